import { type ApprovalRequest, type Confirmation, hasHiddenText, visibleText } from '@lathe/core';
import { renderDiff } from '../render/diff.js';
import type { Style } from '../render/style.js';

/** A question as lines for the screen, and whether a person can see all of it there. */
export interface ConfirmationText {
  title: string;
  body: string;
  warnings: string[];
  /** Nothing is hidden in it. Only then may "always" be offered. */
  isPlain: boolean;
}

const gap = /[ \t]{40,}|\n{8,}/g;

export function confirmationText({ confirmation, reason }: ApprovalRequest, style: Style): ConfirmationText {
  const raw = rawBody(confirmation);
  const hasGap = raw.search(gap) !== -1;
  const isHidden = hasHiddenText(raw);
  const warnings = [
    ...(confirmation.warnings ?? []),
    ...(isHidden ? ['It contains invisible or control characters, shown here as \\x.. or \\u{..}.'] : []),
    ...(hasGap ? ['It contains long stretches of blanks, marked here.'] : []),
  ];
  return {
    title: visibleText(confirmation.title),
    body: confirmation.type === 'edit' ? renderDiff(raw, style) : visibleText(marked(raw)),
    warnings: [...warnings.map((warning) => visibleText(warning)), visibleText(`asked because ${reason}`)],
    isPlain: !isHidden && !hasGap,
  };
}

/** Padding must not push a command out of sight. */
function marked(text: string): string {
  return text.replace(gap, (blanks) => ` ⟨${blanks.length} blanks⟩ `);
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
