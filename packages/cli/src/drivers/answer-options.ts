import type { ApprovalRequest, Decision, GrantScope } from '@lathe/core';
import { grantableRules, visibleText } from '@lathe/core/host';

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

const places: Record<GrantScope, string> = {
  session: 'in this session',
  project: 'in this project',
  user: 'for me',
};

/** Every answer to a question about a call. "Always" is offered only for rules that can be seen in full. */
export function answerOptions(request: ApprovalRequest, { isTrusted }: { isTrusted: boolean }): AnswerOption[] {
  const { confirmation } = request;
  const { choices = [] } = confirmation;
  const isQuestion = confirmation.type === 'info' && confirmation.isQuestion === true;
  const once = { id: 'yes', label: 'Yes, once', decide: () => ({ outcome: 'once' as const }) };
  const chosen = choices.map(({ id, label }) => ({
    id: `choice:${id}`,
    label: visibleText(label),
    decide: () => ({ outcome: 'once' as const, choice: id }),
  }));
  const isEditable = confirmation.type === 'edit' && confirmation.newContent !== undefined;
  return [
    ...(chosen.length > 0 || isQuestion ? chosen : [once]),
    ...grants(request, isTrusted),
    ...(isEditable ? [editOption] : []),
    { id: 'no', label: isQuestion ? 'Another answer, or none' : 'No', takesText: true, decide: deny },
  ];
}

const editOption: AnswerOption = {
  id: 'edit',
  label: 'Yes, with this text instead',
  takesText: true,
  // The changed call is asked about again.
  decide: (content) => (content === undefined ? { outcome: 'deny' } : { outcome: 'modify', content }),
};

function grants(request: ApprovalRequest, isTrusted: boolean): AnswerOption[] {
  const rules = grantableRules(request);
  // A rule saved in the settings of a folder that is not trusted has no effect.
  const scopes: GrantScope[] = isTrusted ? ['session', 'project', 'user'] : ['session', 'user'];
  if (rules.length === 0 || (request.confirmation.choices ?? []).length > 0) return [];
  return scopes.map((scope) => ({
    id: `always:${scope}`,
    label: `Yes, and always ${places[scope]}: ${rules.join(', ')}`,
    isLasting: true,
    decide: () => ({ outcome: 'always', scope }),
  }));
}

function deny(message?: string): Decision {
  return message === undefined || message.trim() === '' ? { outcome: 'deny' } : { outcome: 'deny', message };
}
