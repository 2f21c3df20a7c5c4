import { type Decision, type GrantScope } from '@lathe/core';
import { describeRule, visibleText } from '@lathe/core/host';
import type { Proposal } from './question-queue.js';

/** One answer to a question. Its number in the list chooses it too. */
export interface Option {
  key: string;
  label: string;
  /** Holds for other calls as well, so the person must have seen the whole question. */
  isLasting?: true;
  decide: () => void;
}

export interface OptionsInput {
  request: Proposal;
  answer: (decision: Decision) => void;
  /** Opens the proposed text in an editor and answers with the result. Missing if there is no text to edit. */
  modify?: (() => void) | undefined;
  /** Nothing in the question is hidden, so "always" can be offered. */
  offersAlways: boolean;
  /** The project is trusted, so a rule saved in its settings takes effect. */
  isTrusted: boolean;
  /** Lets the person give a reason. Missing if nobody receives it. */
  explain: (() => void) | undefined;
}

/** The answers to a question. The first one is a plain yes, the last one a plain no. */
export function optionsOf({ request, answer, modify, offersAlways, isTrusted, explain }: OptionsInput): Option[] {
  const { choices = [], rules = [] } = request.confirmation;
  const isQuestion = isToolQuestion(request);
  const yes: Option[] =
    choices.length > 0
      ? choices.map(({ id, label }, index) => ({
          key: index === 0 && !isQuestion ? 'y' : '',
          label: visibleText(label),
          decide: () => answer({ outcome: 'once', choice: id }),
        }))
      : isQuestion
        ? []
        : [{ key: 'y', label: 'Yes, once', decide: () => answer({ outcome: 'once' }) }];
  return [
    ...yes,
    ...(offersAlways && rules.length > 0 ? grantsOf(request, { isTrusted, answer }) : []),
    ...(modify ? [{ key: 'e', label: 'Edit it first', decide: modify }] : []),
    ...(explain ? [{ key: 'm', label: isQuestion ? 'Write an answer' : 'No, and say why', decide: explain }] : []),
    { key: 'n', label: isQuestion ? 'No answer' : 'No', decide: () => answer({ outcome: 'deny' }) },
  ];
}

/** The answers that save rules. */
function grantsOf(
  { confirmation: { rules = [], exactRules = [] } }: Proposal,
  { isTrusted, answer }: Pick<OptionsInput, 'isTrusted' | 'answer'>,
): Option[] {
  const grant = (key: string, place: string, scope: GrantScope, isForExact?: true): Option => ({
    key,
    label: `Yes, and always ${place}: ${namesOf(isForExact ? exactRules : rules)}`,
    isLasting: true,
    decide: () => answer({ outcome: 'always', scope, ...(isForExact && { isExact: true }) }),
  });
  return [
    grant('s', 'in this session', 'session'),
    ...(isTrusted ? [grant('p', 'in this project', 'project')] : []),
    // What one project needs word for word, others do not.
    ...(rules.some(isExact) ? [] : [grant('u', 'for me', 'user')]),
    ...(exactRules.length > 0 ? [grant('x', 'in this session', 'session', true)] : []),
  ];
}

const isExact = (rule: string) => rule.startsWith('run_shell_command(=');

/** Rules as a person reads them. */
function namesOf(rules: readonly string[]): string {
  return rules.map((rule) => (isExact(rule) ? 'this exact command' : visibleText(describeRule(rule)))).join(', ');
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
