import { randomUUID } from 'node:crypto';
import type { Question, QuestionAnswer, SessionEvent } from '@lathe/agent/client';

/** What to ask. */
export type Asked = Omit<Question, 'id'>;

/** What an answer led to. */
export type Answered = { status: 'accepted' } | { status: 'unknown' } | { status: 'invalid'; problem: string };

interface Waiting {
  question: Question;
  /** What is wrong with the text of an answer, if anything. */
  check: (answer: QuestionAnswer) => string | undefined;
  settle: (answer: QuestionAnswer | undefined) => void;
}

/** The questions of a session that wait for an answer. The first answer counts, and it must be one of those shown. */
export class OpenQuestions {
  readonly #waiting = new Map<string, Waiting>();
  readonly #report: (event: SessionEvent) => void;

  constructor(report: (event: SessionEvent) => void) {
    this.#report = report;
  }

  get list(): Question[] {
    return [...this.#waiting.values()].map(({ question }) => question);
  }

  /** The answer, or `undefined` when nobody was there to give one. Rejects when `signal` aborts. */
  ask(
    asked: Asked,
    signal: AbortSignal,
    check: Waiting['check'] = () => undefined,
  ): Promise<QuestionAnswer | undefined> {
    signal.throwIfAborted();
    const question: Question = { id: randomUUID(), ...asked };
    return new Promise((resolve, reject) => {
      const end = (answer?: QuestionAnswer) => {
        signal.removeEventListener('abort', abort);
        this.#waiting.delete(question.id);
        this.#report({ type: 'question-end', questionId: question.id, ...(answer && { option: answer.option }) });
      };
      const abort = () => {
        end();
        reject(signal.reason);
      };
      const settle = (answer: QuestionAnswer | undefined) => {
        end(answer);
        resolve(answer);
      };
      signal.addEventListener('abort', abort, { once: true });
      this.#waiting.set(question.id, { question, check, settle });
      this.#report({ type: 'question-add', question });
    });
  }

  answer(id: string, answer: QuestionAnswer): Answered {
    const waiting = this.#waiting.get(id);
    if (!waiting) return { status: 'unknown' };
    const option = waiting.question.options.find((each) => each.id === answer.option);
    const problem = option ? waiting.check(answer) : `There is no option ${JSON.stringify(answer.option)}`;
    if (problem !== undefined) return { status: 'invalid', problem };
    if (answer.text !== undefined && !option?.takesText)
      return { status: 'invalid', problem: `The option ${answer.option} takes no text` };
    waiting.settle(answer);
    return { status: 'accepted' };
  }

  /** Ends all questions without an answer. */
  dismiss(): void {
    for (const { settle } of this.#waiting.values()) settle(undefined);
  }
}
