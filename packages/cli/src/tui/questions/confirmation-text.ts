import { type Confirmation } from '@lathe/core';
import { hasHiddenText, visibleText } from '@lathe/core/host';
import { renderDiff } from '../../render/diff.js';
import { hasGaps, inert, markGaps, wrapLines } from '../../render/lines.js';
import type { ViewContext } from '../../render/view-context.js';
import type { Proposal } from './question-queue.js';

/** A question as lines for the screen, and whether a person can see all of it there. */
export interface ConfirmationText {
  title: string[];
  body: string[];
  warnings: string[];
  /** Nothing is hidden in it. Only then may "always" be offered. */
  isPlain: boolean;
}

export function confirmationText({ confirmation, reason }: Proposal, context: ViewContext): ConfirmationText {
  const { style, width } = context;
  const raw = rawBody(confirmation);
  const isGapped = hasGaps(raw);
  const isHidden = hasHiddenText(raw) || hasOddBlanks(confirmation, raw);
  const warnings = [
    ...(confirmation.warnings ?? []),
    ...(isHidden ? ['It contains invisible or control characters; they are spelled out here.'] : []),
    ...(isGapped ? [`It contains long stretches of blanks, marked here; ${raw.length} characters in all.`] : []),
  ];
  const lines = (text: string) => wrapLines(text, width);
  return {
    title: lines(style.bold(inert(confirmation.title))),
    body: bodyLines(confirmation, raw, context),
    warnings: [
      ...warnings.flatMap((warning) => lines(style.warning(`! ${inert(warning)}`))),
      // A reason that is a warning too is told once.
      ...(warnings.includes(reason) ? [] : lines(style.dim(inert(`asked because ${reason}`)))),
    ],
    isPlain: !isHidden && !isGapped,
  };
}

/** Look like a blank, or like nothing after a sign, and are more to a shell. */
const oddBlanks = /[\u00a0\u1680\u2000-\u200a\u202f\u205f\u2800\u3000]|\ufe0f/gu;

/** In prose they are nothing special. */
function hasOddBlanks({ type }: Confirmation, raw: string): boolean {
  return type !== 'edit' && type !== 'plan' && raw.search(oddBlanks) !== -1;
}

function bodyLines(confirmation: Confirmation, raw: string, context: ViewContext): string[] {
  const { style, width, markdown } = context;
  switch (confirmation.type) {
    case 'edit': {
      const path = wrapLines(style.dim(inert(confirmation.filePath)), width);
      return [...path, ...renderDiff(raw, style, { width }).split('\n')];
    }
    case 'plan':
      return markdown(visibleText(markGaps(raw)), width).split('\n');
    case 'exec':
    case 'info':
    case 'mcp':
      return wrapLines(spell(markGaps(raw)), width);
  }
}

function spell(text: string): string {
  const blanks = text.replace(oddBlanks, (blank) => `\\u{${(blank.codePointAt(0) ?? 0).toString(16)}}`);
  return visibleText(blanks.replaceAll('\t', '→\t')).replaceAll('\t', '   ');
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
