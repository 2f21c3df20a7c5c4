import { setTimeout as sleep } from 'node:timers/promises';
import type { ModelEvent } from '../model.js';
import { ModelError } from '../model-error.js';

export interface RetryPolicy {
  maxRetries: number;
  firstDelayMs: number;
  maxDelayMs: number;
  /** A server that asks for more patience than this gets only so much. */
  maxRetryAfterMs: number;
  /** All waiting for one answer together. */
  maxTotalDelayMs: number;
}

export const defaultRetryPolicy: RetryPolicy = {
  maxRetries: 6,
  firstDelayMs: 500,
  maxDelayMs: 30_000,
  maxRetryAfterMs: 60_000,
  maxTotalDelayMs: 240_000,
};

/** An empty answer is often an accident, but asking for ever would not fill it. */
const maxEmptyRetries = 1;

/**
 * Asks again when an answer was refused for the moment or broke on its way. A broken answer is dropped as a whole: since
 * its calls are delivered only after it is complete, nothing can run twice.
 */
export async function* withRetries(
  ask: () => AsyncIterable<ModelEvent>,
  policy: RetryPolicy,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent> {
  const backoff = new Backoff(policy);
  let emptyAnswers = 0;
  for (;;) {
    try {
      const problem = yield* deliver(ask(), emptyAnswers < maxEmptyRetries);
      if (problem === undefined) return;
      emptyAnswers += 1;
      yield* backoff.wait(problem, undefined, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof ModelError) || !error.isTransient) throw error;
      if (!backoff.isAllowed(error.retryAfterMs)) throw tired(error, backoff.attempts);
      yield* backoff.wait(error.message, error.retryAfterMs, signal);
    }
  }
}

/** Hands the events on; returns a reason to ask again when the answer is empty and `mayReject`. */
async function* deliver(
  events: AsyncIterable<ModelEvent>,
  mayReject: boolean,
): AsyncGenerator<ModelEvent, string | undefined> {
  for await (const event of events) {
    if (event.type === 'finish' && mayReject && isEmpty(event)) return 'The model answered with nothing.';
    yield event;
  }
  return undefined;
}

function isEmpty({ reason, message }: Extract<ModelEvent, { type: 'finish' }>): boolean {
  const isOver = reason === 'stop' || reason === 'other';
  return (
    isOver && message.parts.every(({ text, thought, functionCall }) => !functionCall && (thought || !text?.trim()))
  );
}

class Backoff {
  readonly #policy: RetryPolicy;
  #waitedMs = 0;
  attempts = 0;

  constructor(policy: RetryPolicy) {
    this.#policy = policy;
  }

  isAllowed(retryAfterMs: number | undefined): boolean {
    const { maxRetries, maxTotalDelayMs } = this.#policy;
    return this.attempts < maxRetries && this.#waitedMs + this.#leastDelay(retryAfterMs) <= maxTotalDelayMs;
  }

  async *wait(reason: string, retryAfterMs: number | undefined, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    const { maxDelayMs, firstDelayMs } = this.#policy;
    const grown = Math.min(maxDelayMs, firstDelayMs * 2 ** this.attempts);
    const least = this.#leastDelay(retryAfterMs);
    // Never earlier than asked, and clients that failed together do not come back together.
    const delayMs = Math.round(
      least > 0 ? least + Math.random() * Math.min(1000, grown) : grown * (0.5 + Math.random() / 2),
    );
    this.attempts += 1;
    this.#waitedMs += delayMs;
    yield { type: 'retry', attempt: this.attempts, delayMs, reason };
    await sleep(delayMs, undefined, { signal }).catch(() => signal.throwIfAborted());
  }

  #leastDelay(retryAfterMs: number | undefined): number {
    return Math.min(retryAfterMs ?? 0, this.#policy.maxRetryAfterMs);
  }
}

function tired(error: ModelError, attempts: number): ModelError {
  const { kind, status, message } = error;
  return new ModelError(kind, `${message} Gave up after ${attempts + 1} attempts.`, {
    cause: error,
    isTransient: false,
    ...(status === undefined ? {} : { status }),
  });
}
