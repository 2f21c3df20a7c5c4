import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isLong, report } from '../../../../testing/long-run.js';
import { schedulerOf } from '../../../../testing/scheduler-kit.js';
import type { CallRequest } from '../contract/call.js';
import type { Decision } from '../contract/confirmation.js';
import { ToolError } from '../contract/errors.js';
import { defineTool, type ToolKind } from '../tools/tools.js';

/** Everything a tool can do to a scheduler. */
const behaviours = [
  'answer',
  'throw',
  'throw-sync',
  'tool-error',
  'hang',
  'answer-late',
  'error-result',
  'obey-abort',
] as const;
type Behaviour = (typeof behaviours)[number];

const rejections: unknown[] = [];
const onRejection = (reason: unknown) => rejections.push(reason);
beforeAll(() => {
  process.on('unhandledRejection', onRejection);
});
afterAll(() => {
  process.off('unhandledRejection', onRejection);
});

/** A tool that does as its arguments say and counts how often each call ran. */
function puppet(kind: ToolKind, runs: Map<string, number>) {
  return defineTool({
    name: `puppet_${kind}`,
    displayName: 'Puppet',
    description: '',
    kind,
    timeoutMs: 3,
    parameterSchema: {
      type: 'object',
      properties: { key: { type: 'string' }, behaviour: { enum: behaviours }, asks: { type: 'boolean' } },
      required: ['key', 'behaviour', 'asks'],
    },
    confirm: async ({ asks }) => (asks ? { type: 'info', title: '', prompt: '', rules: [`puppet_${kind}`] } : false),
    execute: ({ key, behaviour }, signal) => {
      runs.set(key, (runs.get(key) ?? 0) + 1);
      return perform(behaviour, key, signal);
    },
  });
}

function perform(behaviour: Behaviour, key: string, signal: AbortSignal) {
  const answer = { llmContent: key, returnDisplay: key };
  switch (behaviour) {
    case 'answer':
      return Promise.resolve(answer);
    case 'throw':
      return Promise.reject(new Error(key));
    case 'throw-sync':
      throw new Error(key);
    case 'tool-error':
      return Promise.reject(new ToolError('file_not_found', key));
    case 'hang':
      return new Promise<never>(() => {});
    case 'answer-late':
      return new Promise<typeof answer>((resolve) => setTimeout(() => resolve(answer), 1));
    case 'error-result':
      return Promise.resolve({ ...answer, error: { type: 'execution_failed' as const, message: key } });
    case 'obey-abort':
      return new Promise<never>((_resolve, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason), { once: true }),
      );
  }
}

const call = fc.record({
  tool: fc.constantFrom('puppet_read', 'puppet_edit', 'unknown', ''),
  id: fc.option(fc.constantFrom('a', 'b', '', 'c'), { nil: undefined }),
  // Hanging is rare, because each one costs its timeout.
  behaviour: fc.oneof(
    { weight: 30, arbitrary: fc.constantFrom(...behaviours.filter((b) => b !== 'hang')) },
    { weight: 1, arbitrary: fc.constant('hang') },
  ),
  asks: fc.boolean(),
  damage: fc.constantFrom('none', 'none', 'none', 'cut', 'text', 'wrong', 'missing'),
});

const decisions: fc.Arbitrary<Decision> = fc.constantFrom(
  { outcome: 'once' },
  { outcome: 'deny' },
  { outcome: 'always', scope: 'session' },
);

function requestOf(
  { tool, id, behaviour, asks, damage }: typeof call extends fc.Arbitrary<infer T> ? T : never,
  index: number,
): CallRequest {
  const args = { key: `k${index}`, behaviour, asks };
  const base = { name: tool, ...(id !== undefined && { id }) };
  if (damage === 'cut') return { ...base, args, problem: 'cut off' };
  if (damage === 'text') return { ...base, args: JSON.stringify(args).slice(0, -3) as never };
  if (damage === 'wrong') return { ...base, args: { ...args, behaviour: 17 } };
  return damage === 'missing' ? base : { ...base, args };
}

// RC02
test('every call gets exactly one outcome, in order, and runs at most once, whatever happens', {
  timeout: 900_000,
}, async () => {
  const numRuns = isLong ? 16_000 : 2000;
  let batches = 0;
  let aborts = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(call, { maxLength: 8 }),
      fc.array(decisions, { minLength: 1, maxLength: 4 }),
      fc.option(fc.nat(3), { nil: undefined, freq: 3 }),
      async (calls, answers, abortAfter) => {
        batches++;
        if (abortAfter !== undefined) aborts++;
        const runs = new Map<string, number>();
        const controller = new AbortController();
        const ended: string[] = [];
        let asked = 0;
        const { scheduler } = schedulerOf([puppet('read', runs), puppet('edit', runs)], {
          graceMs: 2,
          approver: { decide: async () => answers[asked++ % answers.length] ?? { outcome: 'deny' } },
        });
        const requests = calls.map(requestOf);
        const running = scheduler.run(requests, controller.signal);
        const timer = abortAfter === undefined ? undefined : setTimeout(() => controller.abort(), abortAfter);
        for await (const event of running) if (event.type === 'call-end') ended.push(event.outcome.callId);
        const outcomes = await running;
        clearTimeout(timer);

        expect(outcomes.map(({ name }) => name)).toEqual(requests.map(({ name }) => name));
        expect(new Set(outcomes.map(({ callId }) => callId)).size).toBe(requests.length);
        expect(ended.toSorted()).toEqual(outcomes.map(({ callId }) => callId).toSorted());
        for (const { callId, name, response, status } of outcomes) {
          expect(response).toMatchObject({ id: callId, name });
          expect(Object.keys(response.response ?? {})).toEqual([status === 'success' ? 'output' : 'error']);
        }
        requests.forEach((request, index) => {
          const count = runs.get(`k${index}`) ?? 0;
          expect(count).toBeLessThanOrEqual(1);
          const isWhole =
            request.problem === undefined && calls[index]?.damage === 'none' && calls[index]?.tool.startsWith('puppet');
          if (!isWhole) expect(count).toBe(0);
        });
      },
    ),
    { numRuns, interruptAfterTimeLimit: 800_000, markInterruptAsFailure: true },
  );
  report('batches of calls aborted at random stages', aborts);
  expect(batches).toBeGreaterThanOrEqual(numRuns);
  expect(rejections).toEqual([]);
});
