import { expect, test } from 'vitest';
import type { ModelEvent } from '../model.js';
import { ModelError } from '../model-error.js';
import { defaultRetryPolicy, type RetryPolicy, withRetries } from './retry.js';

const usage = { inputTokens: 1, outputTokens: 1, cachedInputTokens: 0, reasoningTokens: 0 };
const finish: ModelEvent = {
  type: 'finish',
  reason: 'stop',
  usage,
  message: { role: 'model', parts: [{ text: 'ok' }] },
};

/** Fails with each error in turn, then finishes. */
function flapping(errors: Error[]) {
  let attempts = 0;
  async function* ask(): AsyncGenerator<ModelEvent> {
    yield await Promise.resolve<ModelEvent>({ type: 'text-delta', text: `try ${attempts}` });
    const error = errors[attempts++];
    if (error) throw error;
    yield finish;
  }
  return { ask, attempts: () => attempts };
}

async function run(errors: Error[], policy: Partial<RetryPolicy> = {}) {
  const { ask, attempts } = flapping(errors);
  const events: ModelEvent[] = [];
  const fast = { ...defaultRetryPolicy, firstDelayMs: 1, maxDelayMs: 4, ...policy };
  const failure = await (async () => {
    for await (const event of withRetries(ask, fast, new AbortController().signal)) events.push(event);
    return undefined;
  })().catch((error: unknown) => error);
  const delays = events.flatMap((event) => (event.type === 'retry' ? [event.delayMs] : []));
  return { events, failure, delays, attempts: attempts() };
}

const busy = (retryAfterMs?: number) => new ModelError('overloaded', 'busy', { retryAfterMs });

// RN05
test('delays grow, are bounded, and outlast a flapping server', async () => {
  const { delays, events, failure } = await run([busy(), busy(), busy(), busy()]);
  expect(failure).toBeUndefined();
  expect(delays).toHaveLength(4);
  expect(Math.max(...delays)).toBeLessThanOrEqual(4);
  expect(events.at(-1)).toBe(finish);
});

// RN04
test('the delay that the server asks for is respected, up to a limit', async () => {
  const { delays } = await run([busy(30), busy(1e12)], { maxRetryAfterMs: 40 });
  expect(delays[0]).toBeGreaterThanOrEqual(30);
  expect(delays[1]).toBeGreaterThanOrEqual(40);
  expect(delays[1]).toBeLessThanOrEqual(44);
});

test('the total delay is bounded', async () => {
  const { failure, attempts } = await run(
    Array.from({ length: 9 }, () => busy(20)),
    { maxTotalDelayMs: 50 },
  );
  expect(failure).toMatchObject({ kind: 'overloaded', isTransient: false });
  expect(attempts).toBe(3);
});

test.each([
  ['a refused key', new ModelError('auth', 'no')],
  ['a bug', new TypeError('oops')],
])('%s is not retried', async (_, error) => {
  const { failure, attempts } = await run([error]);
  expect(failure).toBe(error);
  expect(attempts).toBe(1);
});

test('an empty answer that is asked for again was paid for', async () => {
  const empty: ModelEvent = { ...finish, message: { role: 'model', parts: [] } };
  const answers = [empty, finish];
  async function* ask(): AsyncGenerator<ModelEvent> {
    yield await Promise.resolve(answers.shift() ?? finish);
  }
  const policy = { ...defaultRetryPolicy, firstDelayMs: 0 };
  const events: ModelEvent[] = [];
  for await (const event of withRetries(ask, policy, new AbortController().signal)) events.push(event);
  expect(events).toEqual([expect.objectContaining({ type: 'retry', usage }), finish]);
});
