import type { ElicitRequestFormParams } from '@modelcontextprotocol/server';
import type { ApprovalRequest } from '../../contract/call.js';
import type { Decision } from '../../contract/confirmation.js';
import { ToolError } from '../../contract/errors.js';
import { approvalText, grantableRules } from '../../scheduler/approval-text.js';
import { visibleText } from '../../text/visible-text.js';

/** The client's answer, not validated yet. */
export interface FormAnswer {
  action: 'accept' | 'decline' | 'cancel';
  content?: Record<string, unknown>;
}

/** Nobody reads more, and a truncated question would be approved without being seen. */
const maxQuestionChars = 200_000;

/** A confirmation as a form: accepting it approves the call, declining it denies the call. */
export function approvalForm(request: ApprovalRequest): ElicitRequestFormParams {
  const message = visibleText(approvalText(request));
  if (message.length > maxQuestionChars)
    throw new ToolError('execution_denied', `${request.tool} was not run: the question is too long to show.`);
  const { choices = [] } = request.confirmation;
  const rules = grantableRules(request);
  return {
    mode: 'form',
    message,
    requestedSchema: {
      type: 'object',
      properties: {
        ...(choices.length > 0 && {
          choice: {
            type: 'string' as const,
            title: 'How',
            oneOf: choices.map(({ id, label }) => ({ const: id, title: visibleText(label) })),
          },
        }),
        ...(rules.length > 0 && {
          remember: {
            type: 'boolean' as const,
            title: 'Do not ask again in this session',
            description: `Allows ${rules.join(', ')}`,
            default: false,
          },
        }),
      },
      ...(choices.length > 0 && { required: ['choice'] }),
    },
  };
}

/** The decision in an answer. Anything but a clear yes is a no. */
export function decisionOf(answer: FormAnswer, request: ApprovalRequest): Decision {
  if (answer.action !== 'accept') return { outcome: 'deny' };
  const { choice, remember }: Record<string, unknown> = answer.content ?? {};
  const { choices = [] } = request.confirmation;
  const picked = choices.find(({ id }) => id === choice);
  if (choices.length > 0 && !picked) return { outcome: 'deny' };
  const extra = picked ? { choice: picked.id } : {};
  const isRemembered = remember === true && grantableRules(request).length > 0;
  return isRemembered ? { outcome: 'always', scope: 'session', ...extra } : { outcome: 'once', ...extra };
}
