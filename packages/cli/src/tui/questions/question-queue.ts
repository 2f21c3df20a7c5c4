import type { ApprovalRequest, Approver, Decision } from '@lathe/core';
import type { Proposal } from '../../drivers/approval-answers.js';
import type { FieldQuestion } from '../../mcp/elicit.js';
import type { FieldValue } from '../../mcp/elicitation-form.js';
import type { Choice } from '../../screen/choice-list.js';

/** A list to choose from. All text is sanitized. */
export interface ListQuestion {
  title: string;
  choices: readonly Choice<string>[];
  initial?: number;
  /** The person may type something that is not in the list. */
  takesText?: boolean;
  /** The model asks, so keys that were typed before do not count. */
  isModels?: boolean;
}

/** A question that waits for an answer. */
export type PendingQuestion =
  /** A call of the model, or a request of a server. A server receives only yes or no. */
  | { type: 'approval' | 'consent'; id: number; request: Proposal; answer: (decision: Decision) => void }
  /** A field of a server's form; `undefined` leaves an optional field empty. */
  | {
      type: 'field';
      id: number;
      question: FieldQuestion;
      answer: (value: FieldValue | undefined) => void;
      cancel: () => void;
    }
  | { type: 'list'; id: number; question: ListQuestion; answer: (value: string | undefined) => void };

/** Creates the question for the given id and answer functions. */
type Enqueue<A> = (id: number, answer: (value: A) => void, cancel: () => void) => PendingQuestion;

/** The questions for the person, in order of arrival. An answer always belongs to the question it was given to. */
export class QuestionQueue implements Approver {
  readonly #pending: PendingQuestion[] = [];
  readonly #listeners = new Set<() => void>();
  #nextId = 0;

  decide(request: ApprovalRequest, signal: AbortSignal): Promise<Decision> {
    return this.#ask((id, answer) => ({ type: 'approval', id, request, answer }), signal);
  }

  consent(request: Proposal, signal: AbortSignal): Promise<Decision> {
    return this.#ask((id, answer) => ({ type: 'consent', id, request, answer }), signal);
  }

  /** Rejects if the person cancels the form. */
  askField(question: FieldQuestion, signal: AbortSignal): Promise<FieldValue | undefined> {
    return this.#ask((id, answer, cancel) => ({ type: 'field', id, question, answer, cancel }), signal);
  }

  /** `undefined` when the person chose nothing. */
  choose(question: ListQuestion, signal: AbortSignal): Promise<string | undefined> {
    return this.#ask((id, answer) => ({ type: 'list', id, question, answer }), signal);
  }

  /** The question to show. */
  get current(): PendingQuestion | undefined {
    return this.#pending[0];
  }

  get length(): number {
    return this.#pending.length;
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
      const finish = () => {
        signal.removeEventListener('abort', onAbort);
        this.#remove(question);
      };
      const onAbort = () => {
        finish();
        reject(signal.reason);
      };
      const question = enqueue(
        this.#nextId++,
        (value) => {
          finish();
          resolve(value);
        },
        () => {
          finish();
          reject(new Error('the person cancelled the form'));
        },
      );
      signal.addEventListener('abort', onAbort, { once: true });
      this.#pending.push(question);
      this.#changed();
    });
  }

  #remove(question: PendingQuestion): void {
    const index = this.#pending.indexOf(question);
    if (index !== -1) this.#pending.splice(index, 1);
    this.#changed();
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }
}
