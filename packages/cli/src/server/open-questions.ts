import { randomUUID } from 'node:crypto';
import type { Question, QuestionAnswer, SessionEvent } from '@lathe/agent/client';
import { untilAborted } from '@lathe/core/host';
import { Rejection } from './rejection.js';

interface Waiting {
  question: Question;
  /** What is wrong with the text of an answer, if anything. */
  check: (answer: QuestionAnswer) => string | undefined;
  settle: (answer: QuestionAnswer | undefined) => void;
}

/** The questions of a session that wait for an answer. The first answer counts, and it must be one of those shown. */
export class OpenQuestions {
  /** Set when somebody can see the questions; those asked before end at once. */
  report: ((event: SessionEvent) => void) | undefined;
  readonly #waiting = new Map<string, Waiting>();

  get list(): Question[] {
    return [...this.#waiting.values()].map(({ question }) => question);
  }

  /** The answer, or `undefined` when nobody was there to give one. Rejects when `signal` aborts. */
  async ask(
    asked: Omit<Question, 'id'>,
    signal: AbortSignal,
    check: Waiting['check'] = () => undefined,
  ): Promise<QuestionAnswer | undefined> {
    signal.throwIfAborted();
    if (!this.report) return undefined;
    const question: Question = { id: randomUUID(), ...asked };
    const answered = new Promise<QuestionAnswer | undefined>((settle) => {
      this.#waiting.set(question.id, { question, check, settle });
    });
    this.report({ type: 'question-add', question });
    let answer: QuestionAnswer | undefined;
    try {
      answer = await untilAborted(answered, signal);
      return answer;
    } finally {
      this.#waiting.delete(question.id);
      this.report({ type: 'question-end', questionId: question.id, ...(answer && { option: answer.option }) });
    }
  }

  answer(id: string, answer: QuestionAnswer): void {
    const waiting = this.#waiting.get(id);
    if (!waiting) throw new Rejection(409, 'The question no longer waits for an answer');
    const option = waiting.question.options.find((each) => each.id === answer.option);
    const problem = option ? waiting.check(answer) : `There is no option ${JSON.stringify(answer.option)}`;
    if (problem !== undefined) throw new Rejection(422, problem);
    if (answer.text !== undefined && !option?.takesText)
      throw new Rejection(422, `The option ${answer.option} takes no text`);
    if (answer.text === undefined && answer.option === 'edit')
      throw new Rejection(422, 'The option edit needs a text: the whole new file');
    this.#waiting.delete(id);
    waiting.settle(answer);
  }

  /** Ends all questions without an answer. */
  dismiss(): void {
    for (const { settle } of this.#waiting.values()) settle(undefined);
  }
}
