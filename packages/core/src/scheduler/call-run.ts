import { Channel } from '../async/channel.js';
import type { CallEvent, CallOutcome } from '../contract/call.js';

/** A batch of calls at work. Await it for the outcomes, or read the events, which end with the outcomes. */
export class CallRun implements PromiseLike<CallOutcome[]>, AsyncIterable<CallEvent> {
  readonly #outcomes: Promise<CallOutcome[]>;
  #channel: Channel<CallEvent> | undefined;

  constructor(work: (emit: (event: CallEvent) => void) => Promise<CallOutcome[]>) {
    // A moment later, so that whoever reads the events from the start misses none.
    this.#outcomes = Promise.resolve().then(() => work((event) => this.#channel?.push(event)));
  }

  [Symbol.asyncIterator](): AsyncGenerator<CallEvent, CallOutcome[]> {
    this.#channel = new Channel();
    return this.#channel.until(this.#outcomes);
  }

  // oxlint-disable-next-line unicorn/no-thenable -- most callers want the outcomes and nothing else
  then<A = CallOutcome[], B = never>(
    onOutcomes?: ((outcomes: CallOutcome[]) => A | PromiseLike<A>) | null,
    onError?: ((error: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#outcomes.then(onOutcomes, onError);
  }
}
