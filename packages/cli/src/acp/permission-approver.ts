import type { PermissionOption, ToolCallContent } from '@agentclientprotocol/sdk';
import type { AgentLathe } from '@lathe/agent';
import { type ApprovalRequest, type Approver, type Decision, denyAll } from '@lathe/core';
import { approvalText, grantableRules, visibleText } from '@lathe/core/host';
import { type Answer, approvalAnswers, isToolQuestion } from '../drivers/approval-answers.js';
import type { SessionClient } from './session-client.js';
import { callHead, diffContent } from './tool-call-content.js';

export interface ApproverOptions {
  client: SessionClient;
  /** Known when the session is open. */
  lathe: () => AgentLathe;
  /** Aborted when the prompt is cancelled or the session ends. */
  turn: () => AbortSignal;
  /** Lets a person answer in their own words; missing if the editor has no forms. */
  askText?: (question: string, options: readonly string[], signal: AbortSignal) => Promise<string | undefined>;
}

/** Puts questions to the person by `session/request_permission`, with the answers that every front end offers. */
export function permissionApprover(options: ApproverOptions): Approver {
  return {
    async decide(request, signal) {
      const ends = AbortSignal.any([signal, options.turn()]);
      if (isToolQuestion(request) && options.askText) return askInWords(request, options.askText, ends);
      const { loaded } = options.lathe();
      const offersAlways = grantableRules(request).length > 0;
      const { yes, no } = approvalAnswers({ request, offersAlways, isTrusted: loaded.isTrusted });
      // A question that only words can answer.
      if (yes.length === 0) return denyAll.decide(request, signal);
      return ask(request, [...yes, no], options, ends);
    },
  };
}

async function ask(
  request: ApprovalRequest,
  answers: readonly Answer[],
  { client, lathe }: ApproverOptions,
  signal: AbortSignal,
): Promise<Decision> {
  const { callId, tool, args } = request;
  const head = callHead(lathe(), { name: tool, description: request.description, args });
  const toolCall = { toolCallId: callId, ...head, status: 'pending' as const, content: questionContent(request) };
  const { outcome } = await client.askPermission(
    { toolCall: { ...toolCall, rawInput: args }, options: answers.map(optionOf) },
    signal,
  );
  const chosen = outcome.outcome === 'selected' ? answers[Number(outcome.optionId.split(':')[0])] : undefined;
  // Anything but one of the answers is a no.
  return chosen?.decision ?? { outcome: 'deny' };
}

function optionOf({ label, decision, isLasting }: Answer, index: number): PermissionOption {
  const isNo = decision.outcome === 'deny';
  const scope = decision.outcome === 'always' ? `:${decision.scope}` : '';
  return {
    optionId: `${index}:${decision.outcome}${scope}`,
    name: label,
    kind: isNo ? 'reject_once' : isLasting ? 'allow_always' : 'allow_once',
  };
}

/** All of the question, with its warnings and why it is asked. An editor draws the diff itself. */
function questionContent(request: ApprovalRequest): ToolCallContent[] {
  const { confirmation } = request;
  const diff = confirmation.type === 'edit' ? diffContent(confirmation) : [];
  const text =
    diff.length > 0 && confirmation.type === 'edit'
      ? approvalText({ ...request, confirmation: { ...confirmation, fileDiff: confirmation.filePath } })
      : approvalText(request);
  return [...diff, { type: 'content', content: { type: 'text', text: asLines(visibleText(text)) } }];
}

/** Markdown joins lines and hides some characters; a code block shows the text as it is. */
function asLines(text: string): string {
  const fence = '`'.repeat(Math.max(3, ...(text.match(/`+/g) ?? []).map(({ length }) => length + 1)));
  return `${fence}\n${text}\n${fence}`;
}

async function askInWords(
  { confirmation }: ApprovalRequest,
  askText: NonNullable<ApproverOptions['askText']>,
  signal: AbortSignal,
): Promise<Decision> {
  const { choices = [] } = confirmation;
  const question = confirmation.type === 'info' ? confirmation.prompt : confirmation.title;
  const labels = choices.map(({ label }) => label);
  const text = await askText(`${confirmation.title}\n${question}`, labels, signal);
  const choice = choices.find(({ label }) => label === text);
  if (choice) return { outcome: 'once', choice: choice.id };
  return { outcome: 'deny', ...(text !== undefined && text !== '' && { message: text }) };
}
