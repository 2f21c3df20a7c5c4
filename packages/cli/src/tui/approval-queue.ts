import type { ApprovalRequest, Approver, Decision } from '@lathe/core';

/** A question and how to answer it. */
export interface Waiting {
  request: ApprovalRequest;
  answer: (decision: Decision) => void;
}

/** The questions that wait for a person, first come first shown. An answer always belongs to the question it was given to. */
export class ApprovalQueue implements Approver {
  readonly #waiting: Waiting[] = [];
  readonly #listeners = new Set<() => void>();

  decide(request: ApprovalRequest, signal: AbortSignal): Promise<Decision> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        request,
        answer: (decision) => {
          signal.removeEventListener('abort', onAbort);
          this.#remove(waiting);
          resolve(decision);
        },
      };
      const onAbort = () => {
        this.#remove(waiting);
        reject(signal.reason);
      };
      if (signal.aborted) {
        onAbort();
        return;
      }
      signal.addEventListener('abort', onAbort, { once: true });
      this.#waiting.push(waiting);
      this.#changed();
    });
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

  #remove(waiting: Waiting): void {
    const index = this.#waiting.indexOf(waiting);
    if (index !== -1) this.#waiting.splice(index, 1);
    this.#changed();
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }
}
