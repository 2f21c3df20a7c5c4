import { type Decision } from '@lathe/core';
import { type Answer, type AnswersInput, approvalAnswers, isToolQuestion } from '../../drivers/approval-answers.js';

/** One answer to a question. Its number in the list chooses it too. */
export interface Option {
  key: string;
  label: string;
  /** Holds for other calls as well, so the person must have seen the whole question. */
  isLasting?: true;
  decide: () => void;
}

export interface OptionsInput extends AnswersInput {
  answer: (decision: Decision) => void;
  /** Opens the proposed text in an editor and answers with the result. Missing if there is no text to edit. */
  modify?: (() => void) | undefined;
  /** Lets the person give a reason. Missing if nobody receives it. */
  explain: (() => void) | undefined;
}

/** The answers to a question. The first one is a plain yes, the last one a plain no. */
export function optionsOf({ answer, modify, explain, ...input }: OptionsInput): Option[] {
  const isQuestion = isToolQuestion(input.request);
  const { yes, no } = approvalAnswers(input);
  const option = (key: string, { decision, ...rest }: Answer): Option => ({
    key,
    ...rest,
    decide: () => answer(decision),
  });
  return [
    ...yes.map((each, index) => option(keyOf(each, index === 0 && !isQuestion), each)),
    ...(modify ? [{ key: 'e', label: 'Edit it first', decide: modify }] : []),
    ...(explain && !input.request.isRemembered
      ? [{ key: 'm', label: isQuestion ? 'Write an answer' : 'No, and say why', decide: explain }]
      : []),
    option('n', no),
  ];
}

function keyOf({ decision }: Answer, isFirst: boolean): string {
  if (decision.outcome !== 'always') return isFirst ? 'y' : '';
  if (decision.isExact) return decision.scope === 'session' ? 'x' : 'X';
  return decision.scope.charAt(0);
}
