import type { PermissionOption, ToolCallContent } from '@agentclientprotocol/sdk';
import type { AgentLathe } from '@lathe/agent';
import { type ApprovalRequest, type Approver, type Decision, denyAll } from '@lathe/core';
import { approvalText, grantableRules, visibleText } from '@lathe/core/host';
import { type Answer, approvalAnswers, isToolQuestion } from '../drivers/approval-answers.js';
import { fenced } from '../render/fenced.js';
import type { EditorQuestions } from './editor-questions.js';
import type { SessionClient } from './session-client.js';
import { callHead, diffContent } from './tool-call-content.js';

/** Puts questions to the person by `session/request_permission`, with the answers that every front end offers. */
export function permissionApprover(
  client: SessionClient,
  questions: EditorQuestions | undefined,
  lathe: () => AgentLathe,
): Approver {
  return {
    async decide(request, signal) {
      if (isToolQuestion(request) && questions) return askInWords(request, questions, signal);
      const { isTrusted } = lathe().loaded;
      const offersAlways = grantableRules(request).length > 0;
      const { yes, no } = approvalAnswers({ request, offersAlways, isTrusted });
      // Only words can answer it.
      if (yes.length === 0) return denyAll.decide(request, signal);
      const answers = [...yes, no];
      const { callId: toolCallId, tool: name, description, args } = request;
      const head = callHead(lathe(), { name, description, args });
      const content = questionContent(request);
      const toolCall = { toolCallId, ...head, status: 'pending' as const, content, rawInput: args };
      const { outcome } = await client.askPermission({ toolCall, options: answers.map(optionOf) }, signal);
      const chosen = answers.find(
        (answer, index) => outcome.outcome === 'selected' && outcome.optionId === optionOf(answer, index).optionId,
      );
      // Anything but one of the answers is a no.
      return chosen?.decision ?? { outcome: 'deny' };
    },
  };
}

function optionOf({ label, decision, isLasting }: Answer, index: number): PermissionOption {
  const scope = decision.outcome === 'always' ? `-${decision.scope}` : '';
  return {
    optionId: `${index + 1}-${decision.outcome}${scope}`,
    name: label,
    kind: decision.outcome === 'deny' ? 'reject_once' : isLasting ? 'allow_always' : 'allow_once',
  };
}

/** All of the question, with its warnings and why it is asked. An editor draws a diff itself; none of it is cut. */
export function questionContent(request: ApprovalRequest): ToolCallContent[] {
  const { confirmation } = request;
  const isEdit = confirmation.type === 'edit';
  const diff = isEdit ? diffContent(confirmation, confirmation.fileDiff.length) : [];
  const shown = isEdit ? { ...confirmation, fileDiff: confirmation.filePath } : confirmation;
  const text = fenced(visibleText(approvalText({ ...request, confirmation: shown })));
  return [...diff, { type: 'content', content: { type: 'text', text } }];
}

async function askInWords(
  { confirmation }: ApprovalRequest,
  { asker }: EditorQuestions,
  signal: AbortSignal,
): Promise<Decision> {
  const { choices = [], title } = confirmation;
  const question = confirmation.type === 'info' ? `${title}\n${confirmation.prompt}` : title;
  const [text] = await asker.ask([{ question, options: choices.map(({ label }) => label) }], signal);
  const choice = choices.find(({ label }) => label === text);
  if (choice) return { outcome: 'once', choice: choice.id };
  return { outcome: 'deny', ...(text !== undefined && { message: text }) };
}
