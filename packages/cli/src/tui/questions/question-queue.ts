import type { ApprovalRequest, Approver, Decision } from '@lathe/core';
import type { FieldQuestion } from '../../mcp/elicit.js';
import type { FieldValue } from '../../mcp/elicitation-form.js';

/** What a yes is said to. */
export type Proposal = Pick<ApprovalRequest, 'confirmation' | 'reason'>;

/** A question and how to answer it. */
export type Waiting =
  /** A call that the model proposes; or what a server asks for, which hears nothing but yes or no. */
  | { type: 'approval' | 'consent'; id: number; request: Proposal; answer: (decision: Decision) => void }
  /** A field of a form that a server wants filled in; without a value where none is needed. */
  | {
      type: 'field';
      id: number;
      question: FieldQuestion;
      answer: (value: FieldValue | undefined) => void;
      cancel: () => void;
    };

/** How a question is put into the queue, once it is known how its answer travels. */
type Enqueue<A> = (id: number, answer: (value: A) => void, cancel: () => void) => Waiting;

/** The questions that wait for a person, first come first shown. An answer always belongs to the question it was given to. */
export class QuestionQueue implements Approver {
  readonly #waiting: Waiting[] = [];
  readonly #listeners = new Set<() => void>();
  #nextId = 0;

  decide(request: ApprovalRequest, signal: AbortSignal): Promise<Decision> {
    return this.#ask((id, answer) => ({ type: 'approval', id, request, answer }), signal);
  }

  consent(request: Proposal, signal: AbortSignal): Promise<Decision> {
    return this.#ask((id, answer) => ({ type: 'consent', id, request, answer }), signal);
  }

  /** Rejects when the person wants no more of the form. */
  askField(question: FieldQuestion, signal: AbortSignal): Promise<FieldValue | undefined> {
    return this.#ask((id, answer, cancel) => ({ type: 'field', id, question, answer, cancel }), signal);
  }

  /** The question to show now. Its identity changes with every new question. */
  get current(): Waiting | undefined {
    return this.#waiting[0];
  }

  get length(): number {
    return this.#waiting.length;
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #ask<A>(enqueue: Enqueue<A>, signal: AbortSignal): Promise<A> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason);
        return;
      }
      const over = () => {
        signal.removeEventListener('abort', onAbort);
        this.#remove(waiting);
      };
      const onAbort = () => {
        over();
        reject(signal.reason);
      };
      const waiting = enqueue(
        this.#nextId++,
        (value) => {
          over();
          resolve(value);
        },
        () => {
          over();
          reject(new Error('the person does not want to answer'));
        },
      );
      signal.addEventListener('abort', onAbort, { once: true });
      this.#waiting.push(waiting);
      this.#changed();
    });
  }

  #remove(waiting: Waiting): void {
    const index = this.#waiting.indexOf(waiting);
    if (index !== -1) this.#waiting.splice(index, 1);
    this.#changed();
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }
}
