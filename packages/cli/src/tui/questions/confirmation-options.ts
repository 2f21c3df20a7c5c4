import { type Decision, type GrantScope } from '@lathe/core';
import { visibleText } from '@lathe/core/host';
import type { Proposal } from './question-queue.js';

/** One answer to a question. */
export interface Option {
  key: string;
  label: string;
  decide: () => void;
}

export interface OptionsInput {
  request: Proposal;
  answer: (decision: Decision) => void;
  /** Opens the proposed text in an editor and answers with the result. Missing if there is no text to edit. */
  modify?: (() => void) | undefined;
  /** The whole question is visible, so "always" can be offered. */
  offersAlways: boolean;
  /** The project is trusted, so a rule saved in its settings takes effect. */
  isTrusted: boolean;
  /** Lets the person give a reason. Missing if nobody receives it. */
  explain: (() => void) | undefined;
}

/** The answers to a question. The last one means no and is selected at first. */
export function optionsOf({ request, answer, modify, offersAlways, isTrusted, explain }: OptionsInput): Option[] {
  const { choices = [], rules = [] } = request.confirmation;
  const isQuestion = isToolQuestion(request);
  const always = (scope: GrantScope) => () => answer({ outcome: 'always', scope });
  const ruleText = rules.map((rule) => visibleText(rule)).join(', ');
  const yes: Option[] =
    choices.length > 0
      ? choices.map(({ id, label }, index) => ({
          key: String(index + 1),
          label: visibleText(label),
          decide: () => answer({ outcome: 'once', choice: id }),
        }))
      : isQuestion
        ? []
        : [{ key: 'y', label: 'Yes, once', decide: () => answer({ outcome: 'once' }) }];
  const grants: Option[] = [
    { key: 's', label: `Yes, and always in this session: ${ruleText}`, decide: always('session') },
    ...(isTrusted
      ? [{ key: 'p', label: `Yes, and always in this project: ${ruleText}`, decide: always('project') }]
      : []),
    { key: 'u', label: `Yes, and always for me: ${ruleText}`, decide: always('user') },
  ];
  return [
    ...yes,
    ...(offersAlways && rules.length > 0 ? grants : []),
    ...(modify ? [{ key: 'e', label: 'Edit it first', decide: modify }] : []),
    ...(explain ? [{ key: 'm', label: isQuestion ? 'Write an answer' : 'No, and say why', decide: explain }] : []),
    { key: 'n', label: isQuestion ? 'No answer (Esc)' : 'No (Esc)', decide: () => answer({ outcome: 'deny' }) },
  ];
}

/** A tool asks for information. There is nothing to approve. */
export function isToolQuestion({ confirmation }: Proposal): boolean {
  return confirmation.type === 'info' && confirmation.isQuestion === true;
}
