import { setTimeout as sleep } from 'node:timers/promises';
import type { ModelEvent, Usage } from '../model.js';
import { ModelError } from '../model-error.js';

export interface RetryPolicy {
  maxRetries: number;
  firstDelayMs: number;
  maxDelayMs: number;
  /** Upper limit for the delay that a server asks for. */
  maxRetryAfterMs: number;
  /** Upper limit for all delays of one answer together. */
  maxTotalDelayMs: number;
}

export const defaultRetryPolicy: RetryPolicy = {
  maxRetries: 6,
  firstDelayMs: 500,
  maxDelayMs: 30_000,
  maxRetryAfterMs: 60_000,
  maxTotalDelayMs: 240_000,
};

/** An empty answer is often an accident. */
const maxEmptyRetries = 1;

/**
 * Repeats a request that the server rejected for the moment or whose answer broke. A broken answer is dropped as a
 * whole: its calls are delivered only after it is complete, so nothing can run twice.
 */
export async function* withRetries(
  ask: () => AsyncIterable<ModelEvent>,
  policy: RetryPolicy,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent> {
  let attempts = 0;
  let waitedMs = 0;
  let emptyAnswers = 0;
  for (;;) {
    let reason = 'The model answered with nothing.';
    let leastMs = 0;
    let usage: Usage | undefined;
    try {
      for await (const event of ask()) {
        if (event.type === 'finish' && emptyAnswers < maxEmptyRetries && isEmpty(event)) usage = event.usage;
        else yield event;
      }
      if (!usage) return;
      emptyAnswers += 1;
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof ModelError) || !error.isTransient) throw error;
      reason = error.message;
      leastMs = Math.min(error.retryAfterMs ?? 0, policy.maxRetryAfterMs);
      if (attempts >= policy.maxRetries || waitedMs + leastMs > policy.maxTotalDelayMs)
        throw gaveUp(error, attempts + 1);
    }
    const delayMs = delayOf(attempts, leastMs, policy);
    attempts += 1;
    waitedMs += delayMs;
    yield { type: 'retry', attempt: attempts, delayMs, reason, ...(usage && { usage }) };
    await sleep(delayMs, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}

function isEmpty({ reason, message }: Extract<ModelEvent, { type: 'finish' }>): boolean {
  const isOver = reason === 'stop' || reason === 'other';
  return (
    isOver && message.parts.every(({ text, thought, functionCall }) => !functionCall && (thought || !text?.trim()))
  );
}

/** Never earlier than asked, and random, so that clients that failed together do not come back together. */
function delayOf(attempts: number, leastMs: number, { maxDelayMs, firstDelayMs }: RetryPolicy): number {
  const grown = Math.min(maxDelayMs, firstDelayMs * 2 ** attempts);
  return Math.round(leastMs > 0 ? leastMs + Math.random() * Math.min(1000, grown) : grown * (0.5 + Math.random() / 2));
}

function gaveUp(cause: ModelError, attempts: number): ModelError {
  const { kind, status, message } = cause;
  return new ModelError(kind, `${message} Gave up after ${attempts} attempts.`, { cause, isTransient: false, status });
}
