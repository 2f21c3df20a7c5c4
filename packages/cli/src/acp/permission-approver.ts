import type { PermissionOption, ToolCallContent } from '@agentclientprotocol/sdk';
import type { AgentLathe } from '@lathe/agent';
import { type ApprovalRequest, type Approver, type Decision, denyAll } from '@lathe/core';
import { approvalText, visibleText } from '@lathe/core/host';
import { type AnswerOption, answerOptions } from '../drivers/answer-options.js';
import { isToolQuestion } from '../drivers/approval-answers.js';
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
      // The protocol has no place for a changed text.
      const options = answerOptions(request).filter(({ id }) => id !== 'edit');
      // Only words can answer it.
      if (options.length === 1) return denyAll.decide(request, signal);
      const { callId: toolCallId, tool: name, description, args } = request;
      const head = callHead(lathe(), { name, description, args });
      const content = questionContent(request);
      const toolCall = { toolCallId, ...head, status: 'pending' as const, content, rawInput: args };
      const chosen = await client.askPermission({ toolCall, options: options.map(shownOption) }, signal);
      // Anything but one of the answers is a no.
      return options.find(({ id }) => id === chosen)?.decide() ?? { outcome: 'deny' };
    },
  };
}

function shownOption({ id, label, isLasting }: AnswerOption): PermissionOption {
  if (id === 'no') return { optionId: id, name: 'No', kind: 'reject_once' };
  return { optionId: id, name: label, kind: isLasting ? 'allow_always' : 'allow_once' };
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
