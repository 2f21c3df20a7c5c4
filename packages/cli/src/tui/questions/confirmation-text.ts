import { type Confirmation } from '@lathe/core';
import { hasHiddenText, visibleText } from '@lathe/core/host';
import { type Proposal, spellingsOf } from '../../drivers/approval-answers.js';
import { renderDiff } from '../../render/diff.js';
import { hasGaps, lineWidth, markGaps, sanitize, wrapHanging, wrapLines } from '../../render/lines.js';
import type { ViewContext } from '../../render/view-context.js';

/** A question as lines for the screen. */
export interface ConfirmationText {
  title: string[];
  body: string[];
  warnings: string[];
  /** How the rule of "always" is spelled. */
  spelling: string[];
  /** Contains no invisible characters and no long gaps. Only then "always" is offered. */
  isPlain: boolean;
}

const minSpellingWidth = 40;

/** Reasons that say nothing a person did not know: this is what the mode is for. */
const ordinaryReasons: ReadonlySet<string> = new Set(['no rule allows it', 'only the user can end plan mode']);

export function confirmationText(request: Proposal, context: ViewContext): ConfirmationText {
  const { confirmation, reason } = request;
  const { style, width } = context;
  const raw = rawBody(confirmation);
  const isGapped = hasGaps(raw);
  const isHidden = hasHiddenText(raw) || hasUnusualSpaces(confirmation, raw);
  const warnings = [
    ...(confirmation.warnings ?? []),
    ...(isHidden ? ['It contains invisible or control characters, shown here as escapes.'] : []),
    ...(isGapped ? [`It contains long runs of whitespace, marked here. It has ${raw.length} characters.`] : []),
  ];
  const lines = (text: string) => wrapHanging(text, width);
  // A narrow screen has no room for more than the answers.
  const spelling = width < minSpellingWidth ? '' : spellingsOf(request);
  return {
    ...headed(confirmation, bodyLines(confirmation, raw, context), context),
    warnings: [
      ...warnings.flatMap((warning) => lines(style.warning(`! ${sanitize(warning)}`))),
      // A reason that is also a warning is shown once.
      ...(ordinaryReasons.has(reason) || warnings.some((warning) => isSame(warning, reason))
        ? []
        : lines(style.dim(sanitize(`asked because ${reason}`)))),
    ],
    spelling: isHidden || isGapped || spelling === '' ? [] : lines(style.dim(spelling)),
    isPlain: !isHidden && !isGapped,
  };
}

/** A warning is a sentence, a reason continues one. */
const isSame = (warning: string, reason: string) =>
  warning.replace(/\.$/, '').toLowerCase() === reason.replace(/\.$/, '').toLowerCase();

/** The title, with the directory beside it or, where that does not fit, below the body. */
function headed(confirmation: Confirmation, body: string[], { style, width }: ViewContext) {
  const title = style.bold(sanitize(confirmation.title));
  const place = placeOf(confirmation);
  if (place === '') return { title: wrapHanging(title, width), body };
  const line = `${title} ${style.dim(sanitize(place))}`;
  if (lineWidth(line) <= width) return { title: [line], body };
  return { title: wrapHanging(title, width), body: [...body, ...wrapLines(style.dim(sanitize(place)), width)] };
}

/** The directory of a file that the title names by its relative path. */
function placeOf(confirmation: Confirmation): string {
  if (confirmation.type !== 'edit') return '';
  const { title, filePath } = confirmation;
  const shown = title.slice(title.indexOf(': ') + 2);
  return filePath.endsWith(`/${shown}`) ? `in ${filePath.slice(0, -shown.length - 1) || '/'}` : '';
}

/** Look like a space, but a shell treats them as other characters. */
const unusualSpaces = /[\u00a0\u1680\u2000-\u200a\u202f\u205f\u2800\u3000]/gu;

/** In edits and plans these characters are normal. */
function hasUnusualSpaces({ type }: Confirmation, raw: string): boolean {
  return type !== 'edit' && type !== 'plan' && raw.search(unusualSpaces) !== -1;
}

function bodyLines(confirmation: Confirmation, raw: string, context: ViewContext): string[] {
  const { style, width, markdown } = context;
  switch (confirmation.type) {
    case 'edit':
      return renderDiff(raw, style, { width }).split('\n');
    case 'plan':
      return markdown(visibleText(markGaps(raw)), width).split('\n');
    case 'exec':
    case 'info':
    case 'mcp':
      return wrapLines(spellOut(markGaps(raw)), width);
  }
}

function spellOut(text: string): string {
  const escaped = text.replace(unusualSpaces, (space) => `\\u{${(space.codePointAt(0) ?? 0).toString(16)}}`);
  return visibleText(escaped.replaceAll('\t', '→\t')).replaceAll('\t', '   ');
}

function rawBody(confirmation: Confirmation): string {
  switch (confirmation.type) {
    case 'edit':
      return confirmation.fileDiff;
    case 'exec':
      return `$ ${confirmation.command}\nin ${confirmation.directory}`;
    case 'info':
      return [confirmation.prompt, ...(confirmation.urls ?? [])].join('\n');
    case 'mcp':
      return `${confirmation.serverName}: ${confirmation.toolName}\n${JSON.stringify(confirmation.args, null, 2)}`;
    case 'plan':
      return confirmation.plan;
  }
}
