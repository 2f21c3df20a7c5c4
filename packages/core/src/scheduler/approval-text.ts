import type { ApprovalRequest } from '../contract/call.js';
import type { Confirmation } from '../contract/confirmation.js';
import { hasHiddenText } from '../text/visible-text.js';

/** A question as plain text. It holds text from outside: show it through `visibleText`. */
export function approvalText({ confirmation, reason }: ApprovalRequest): string {
  const warnings = (confirmation.warnings ?? []).map((warning) => `! ${warning}`);
  return [confirmation.title, details(confirmation), ...warnings, `(asked because ${reason})`].join('\n');
}

/** "Always" is offered only for what a person can see all of. */
export function grantableRules(request: ApprovalRequest): readonly string[] {
  const { rules = [] } = request.confirmation;
  return [approvalText(request), ...rules].some(hasHiddenText) ? [] : rules;
}

function details(confirmation: Confirmation): string {
  switch (confirmation.type) {
    case 'edit':
      return confirmation.fileDiff;
    case 'exec':
      return `  $ ${confirmation.command.replaceAll('\n', '\n    ')}\n  in ${confirmation.directory}`;
    case 'info':
      return [confirmation.prompt, ...(confirmation.urls ?? [])].join('\n');
    case 'mcp':
      return `${confirmation.serverName}: ${confirmation.toolName} ${JSON.stringify(confirmation.args, null, 2)}`;
    case 'plan':
      return confirmation.plan;
  }
}
