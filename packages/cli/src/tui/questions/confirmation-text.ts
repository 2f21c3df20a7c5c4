import { type Confirmation } from '@lathe/core';
import { hasHiddenText, visibleText } from '@lathe/core/host';
import { renderDiff } from '../../render/diff.js';
import { hasGaps, markGaps, sanitize, wrapHanging, wrapLines } from '../../render/lines.js';
import type { ViewContext } from '../../render/view-context.js';
import type { Proposal } from './question-queue.js';

/** A question as lines for the screen. */
export interface ConfirmationText {
  title: string[];
  body: string[];
  warnings: string[];
  /** Contains no invisible characters and no long gaps. Only then "always" is offered. */
  isPlain: boolean;
}

export function confirmationText({ confirmation, reason }: Proposal, context: ViewContext): ConfirmationText {
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
  return {
    title: lines(style.bold(sanitize(confirmation.title))),
    body: bodyLines(confirmation, raw, context),
    warnings: [
      ...warnings.flatMap((warning) => lines(style.warning(`! ${sanitize(warning)}`))),
      // A reason that is also a warning is shown once.
      ...(warnings.includes(reason) ? [] : lines(style.dim(sanitize(`asked because ${reason}`)))),
    ],
    isPlain: !isHidden && !isGapped,
  };
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
    case 'edit': {
      const path = wrapLines(style.dim(sanitize(confirmation.filePath)), width);
      return [...path, ...renderDiff(raw, style, { width }).split('\n')];
    }
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
