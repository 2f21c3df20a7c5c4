import type { ApprovalRequest, Decision } from '@lathe/core';
import { grantableRules } from '@lathe/core/host';
import { approvalAnswers, isToolQuestion } from './approval-answers.js';

/** One answer that a program may give to a question about a call, by its id. */
export interface AnswerOption {
  id: string;
  label: string;
  /** The answer may have words: a reason, or the changed text. */
  takesText?: true;
  /** Holds for later calls as well. */
  isLasting?: true;
  /** What the answer means. It depends on nothing but what was shown. */
  decide: (text?: string) => Decision;
}

/** Every answer to a question about a call. "Always" is offered only for rules that can be seen in full. */
export function answerOptions(request: ApprovalRequest): AnswerOption[] {
  const { confirmation } = request;
  const offersAlways = grantableRules(request).length > 0;
  const { yes } = approvalAnswers({ request, offersAlways });
  const isEditable = confirmation.type === 'edit' && confirmation.newContent !== undefined;
  return [
    ...yes.map(({ decision, ...rest }) => ({ id: idOf(decision), ...rest, decide: () => decision })),
    ...(isEditable ? [editOption] : []),
    { id: 'no', label: isToolQuestion(request) ? 'Another answer, or none' : 'No', takesText: true, decide: deny },
  ];
}

function idOf(decision: Decision): string {
  if (decision.outcome === 'always') return `always:${decision.isExact ? 'exact:' : ''}${decision.scope}`;
  return decision.outcome === 'once' && decision.choice !== undefined ? `choice:${decision.choice}` : 'yes';
}

const editOption: AnswerOption = {
  id: 'edit',
  label: 'Yes, with this text instead',
  takesText: true,
  // The changed call is asked about again.
  decide: (content) => (content === undefined ? { outcome: 'deny' } : { outcome: 'modify', content }),
};

function deny(message?: string): Decision {
  return message === undefined || message.trim() === '' ? { outcome: 'deny' } : { outcome: 'deny', message };
}
