import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, onTestFinished, test } from 'vitest';
import { isLong, report } from '../../../testing/long-run.js';
import { tempDirectory } from '../../../testing/temp-directory.js';
import { createAgentLathe } from './create-agent-lathe.js';
import type { Model, ModelEvent } from './models/model.js';
import { openSession } from './open-session.js';

const calls = isLong ? 5_000 : 200;
/** The first ones fill caches, and load and compile what the tools use. */
const warm = calls / 10;
const never = new AbortController().signal;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

interface Point {
  heap: number;
  rss: number;
}

function memory(): Point {
  collectGarbage();
  const { heapUsed, rss } = process.memoryUsage();
  return { heap: heapUsed / 2 ** 20, rss: rss / 2 ** 20 };
}

/** The calls of a model that works on one file and looks around between. */
function callOf(root: string, index: number): { name: string; args: Record<string, unknown> } {
  const file = join(root, 'work.txt');
  switch (index % 5) {
    case 0:
      return { name: 'read_file', args: { absolute_path: file } };
    case 1:
      return {
        name: 'edit',
        args: { file_path: file, old_string: `round ${index - 1}`, new_string: `round ${index + 4}` },
      };
    case 2:
      return { name: 'grep_search', args: { pattern: 'lorem', path: root } };
    case 3:
      return { name: 'glob', args: { pattern: '**/*.txt' } };
    default:
      return { name: 'read_file', args: { absolute_path: join(root, 'missing') } };
  }
}

/** Makes one call per turn, and answers summaries. Its window is small, so that the history is compacted again and again. */
function model(root: string, onCall: (count: number) => void): Model {
  let count = 0;
  const usage = { inputTokens: 0, outputTokens: 1, cachedInputTokens: 0, reasoningTokens: 0, isEstimate: true };
  return {
    id: 'busy',
    provider: 'test',
    contextWindow: 40_000,
    supports: { images: false, tools: true, pdf: false },
    async *stream({ tools }): AsyncGenerator<ModelEvent> {
      const isSummary = tools.length === 0;
      const isDone = count >= calls;
      const call = { id: `c${count}`, ...callOf(root, count) };
      if (!isSummary && !isDone) {
        onCall(count);
        count += 1;
        yield { type: 'call', call };
      }
      const parts = isSummary || isDone ? [{ text: 'The work continues.' }] : [{ functionCall: call }];
      yield {
        type: 'finish',
        reason: isSummary || isDone ? 'stop' : 'calls',
        usage,
        message: { role: 'model', parts },
      };
    },
  };
}

// RC01
test('thousands of calls in one session need no more memory than the first hundreds', {
  timeout: 1_800_000,
}, async () => {
  const root = tempDirectory({ 'lorem.txt': 'lorem ipsum\n'.repeat(300) });
  writeFileSync(join(root, 'work.txt'), `round 0\n${'dolor sit amet\n'.repeat(200)}`);
  const lathe = await createAgentLathe({
    cwd: root,
    env: { PATH: process.env['PATH'] },
    home: tempDirectory(),
    flags: { 'tools.approvalMode': 'auto-edit', 'model.skipLoopDetection': true },
  });
  onTestFinished(() => lathe.close());
  const points: Point[] = [];
  const onCall = (count: number) => {
    if (count > 0 && count % warm === 0) points.push(memory());
  };
  const session = await openSession(lathe, { model: model(root, onCall) });
  const outcomes = new Map<string, number>();
  let compactions = 0;
  for await (const event of session.prompt('go', never)) {
    if (event.type === 'compaction-end') compactions += 1;
    if (event.type !== 'call-end') continue;
    const key = `${event.outcome.name} ${event.outcome.status}`;
    outcomes.set(key, (outcomes.get(key) ?? 0) + 1);
  }
  await session.close();
  expect(Object.fromEntries(outcomes)).toEqual({
    'read_file success': calls / 5,
    'edit success': calls / 5,
    'grep_search success': calls / 5,
    'glob success': calls / 5,
    'read_file error': calls / 5,
  });
  expect(compactions).toBeGreaterThan(0);
  const [first = { heap: 0, rss: 0 }, ...later] = points;
  const rise = {
    heap: Math.max(...later.map(({ heap }) => heap)) - first.heap,
    rss: Math.max(...later.map(({ rss }) => rss)) - first.rss,
  };
  report('calls in one session', calls, {
    compactions,
    'heap MB after the first tenth': first.heap.toFixed(1),
    'heap rise MB': rise.heap.toFixed(2),
    'rss rise MB': rise.rss.toFixed(2),
  });
  expect(rise.heap).toBeLessThan(8);
  if (isLong) expect(rise.rss).toBeLessThan(48);
});
