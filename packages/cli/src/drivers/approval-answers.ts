import type { ApprovalRequest, Decision, GrantScope } from '@lathe/core';
import { visibleText } from '@lathe/core/host';

/** What the person is asked to approve. */
export type Proposal = Pick<ApprovalRequest, 'confirmation' | 'reason' | 'isGuarded'>;

/** One answer to a question, for any front end. */
export interface Answer {
  /** Sanitized. */
  label: string;
  decision: Decision;
  /** Holds for other calls as well, so the person must have seen the whole question. */
  isLasting?: true;
}

export interface AnswersInput {
  request: Proposal;
  /** Nothing in the question is hidden, so "always" can be offered. */
  offersAlways: boolean;
  /** The project is trusted, so a rule saved in its settings takes effect. */
  isTrusted: boolean;
}

/** All ways to say yes to a question, a plain one first, and the plain no. */
export function approvalAnswers({ request, offersAlways, isTrusted }: AnswersInput): { yes: Answer[]; no: Answer } {
  const { choices = [], rules = [] } = request.confirmation;
  const isQuestion = isToolQuestion(request);
  const ruleText = rules.map((rule) => visibleText(rule)).join(', ');
  const grant = (place: string, scope: GrantScope): Answer => ({
    label: `Yes, and always ${place}: ${ruleText}`,
    isLasting: true,
    decision: { outcome: 'always', scope },
  });
  const once: Answer[] =
    choices.length > 0
      ? choices.map(({ id, label }) => ({ label: visibleText(label), decision: { outcome: 'once', choice: id } }))
      : isQuestion
        ? []
        : [{ label: 'Yes, once', decision: { outcome: 'once' } }];
  const grants = [
    grant('in this session', 'session'),
    ...(isTrusted ? [grant('in this project', 'project')] : []),
    grant('for me', 'user'),
  ];
  return {
    yes: [...once, ...(offersAlways && rules.length > 0 ? grants : [])],
    no: { label: isQuestion ? 'No answer' : 'No', decision: { outcome: 'deny' } },
  };
}

/** A tool asks for information. There is nothing to approve. */
export function isToolQuestion({ confirmation }: Proposal): boolean {
  return confirmation.type === 'info' && confirmation.isQuestion === true;
}
