import type { ApprovalRequest, Decision, GrantScope } from '@lathe/core';
import { describeRule, visibleText } from '@lathe/core/host';

/** What the person is asked to approve. */
export type Proposal = Pick<ApprovalRequest, 'confirmation' | 'reason' | 'isGuarded' | 'isRemembered'>;

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
}

/** All ways to say yes to a question, a plain one first, and the plain no. */
export function approvalAnswers({ request, offersAlways }: AnswersInput): { yes: Answer[]; no: Answer } {
  const { choices = [], rules = [] } = request.confirmation;
  const isQuestion = isToolQuestion(request);
  const once: Answer[] =
    choices.length > 0
      ? choices.map(({ id, label }) => ({ label: visibleText(label), decision: { outcome: 'once', choice: id } }))
      : isQuestion
        ? []
        : [{ label: request.isRemembered ? 'Yes, until it changes' : 'Yes, once', decision: { outcome: 'once' } }];
  return {
    yes: [...once, ...(offersAlways && rules.length > 0 ? grantsOf(request) : [])],
    no: { label: isQuestion ? 'No answer' : 'No', decision: { outcome: 'deny' } },
  };
}

/** The answers that save rules. */
function grantsOf({ confirmation: { rules = [], exactRules = [] } }: Proposal): Answer[] {
  const grant = (place: string, scope: GrantScope, isForExact?: true): Answer => ({
    label: `Always ${place}: ${namesOf(isForExact ? exactRules : rules, scope)}`,
    isLasting: true,
    decision: { outcome: 'always', scope, ...(isForExact && { isExact: true }) },
  });
  return [
    grant('in this session', 'session'),
    grant('in this project', 'project'),
    // What one project needs word for word, others do not.
    ...(rules.some(isExact) ? [] : [grant('for me', 'user')]),
    ...(exactRules.length > 0
      ? [grant('in this session', 'session', true), grant('in this project', 'project', true)]
      : []),
  ];
}

const isExact = (rule: string) => rule.startsWith('run_shell_command(=');

/** Rules as a person reads them. A rule of the person holds in whatever folder they work. */
function namesOf(rules: readonly string[], scope: GrantScope): string {
  const names = rules.map((rule) => (isExact(rule) ? 'this exact command' : visibleText(describeRule(rule))));
  return names
    .map((name) => (scope === 'user' ? name.replace(/ in this folder$/, ' in any project') : name))
    .join(', ');
}

/** How the rules are spelled in the settings; empty if that says no more than the question. */
export function spellingsOf({ confirmation: { rules = [] } }: Proposal): string {
  const spelled = rules.filter((rule) => !isExact(rule)).map((rule) => visibleText(rule));
  return spelled.length === 0 ? '' : `always: ${spelled.join(', ')}`;
}

/** A tool asks for information. There is nothing to approve. */
export function isToolQuestion({ confirmation }: Proposal): boolean {
  return confirmation.type === 'info' && confirmation.isQuestion === true;
}
