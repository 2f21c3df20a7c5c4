import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { agentKit, faults } from '../../../../testing/agent-kit.js';
import type { Model, ModelEvent } from '../models/model.js';

const turns = process.env['LATHE_LONG'] ? 20_000 : 1_000;
const never = new AbortController().signal;

/** Bytes in use once all garbage is gone. */
function heapInUse(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  return process.memoryUsage().heapUsed;
}

test('a session of many turns holds its history and nothing else', async () => {
  const heap: number[] = [];
  let count = 0;
  const usage = { inputTokens: 10, outputTokens: 1, cachedInputTokens: 0, reasoningTokens: 0 };
  const model: Model = {
    id: 'endless',
    provider: 'test',
    contextWindow: 1e9,
    supports: { images: false, tools: true, pdf: false },
    async *stream(): AsyncGenerator<ModelEvent> {
      count += 1;
      if (count % (turns / 4) === 0) heap.push(heapInUse());
      const isLast = count >= turns;
      const call = { id: `c${count}`, name: 'look', args: { text: `${count}` } };
      if (!isLast) yield { type: 'call', call };
      const parts = isLast ? [{ text: 'done' }] : [{ functionCall: call }];
      yield { type: 'finish', reason: isLast ? 'stop' : 'calls', usage, message: { role: 'model', parts } };
    },
  };
  const { agent } = agentKit([], { model });
  let calls = 0;
  for await (const event of agent.prompt('go', never)) if (event.type === 'call-end') calls += 1;
  expect(calls).toBe(turns - 1);
  expect(faults(agent.history)).toEqual([]);
  const [, early = 0, , late = 0] = heap;
  expect((late - early) / (turns / 2)).toBeLessThan(4_000);
});
