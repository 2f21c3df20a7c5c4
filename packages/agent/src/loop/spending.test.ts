import { expect, test } from 'vitest';
import { agentKit, collect, endOf } from '../../../../testing/agent-kit.js';
import { FallbackModel } from '../models/choose/fallback-model.js';
import type { Model, ModelIdentity, Usage } from '../models/model.js';
import { ModelError } from '../models/model-error.js';
import { ScriptedModel, type ScriptStep } from '../models/replay/scripted.js';
import type { AgentEvent } from './agent-event.js';

const never = new AbortController().signal;
const noCredit = { error: new ModelError('quota', 'no credit.') };
const long = (word: string) => ({ text: `${word} `.repeat(2_000) });

function named(id: string, steps: readonly ScriptStep[]) {
  const scripted = new ScriptedModel(steps);
  const { provider, contextWindow, supports } = scripted;
  const model: Model = {
    id,
    provider,
    contextWindow,
    supports,
    stream: (request, signal) => scripted.stream(request, signal),
  };
  return { model, requests: scripted.requests };
}

/** Cents of each request, by model. */
const pricesOf = (cents: Record<string, number>) => ({
  costOf: async (_: Usage, { id }: ModelIdentity) => cents[id],
});
const withFallbacks = (first: Model, ...rest: Model[]) =>
  new FallbackModel(
    first,
    rest.map((model) => ({ name: model.id, open: async () => model })),
  );
const reports = (events: readonly AgentEvent[]) =>
  events.flatMap((event) => (event.type === 'usage' ? [event.usage] : []));
const notices = (events: readonly AgentEvent[]) =>
  events.flatMap((event) => (event.type === 'notice' ? [event.message] : []));

test('a limit of cost passes over a fallback without a price, and charges the one that answers', async () => {
  const [first, second, third] = [named('first', [noCredit]), named('second', []), named('third', [{ text: 'hi' }])];
  const model = withFallbacks(first.model, second.model, third.model);
  const { agent } = agentKit([], { model, budgets: { cost: 50 }, prices: pricesOf({ first: 1, third: 7 }) });
  const events = await collect(agent.prompt('go', never));
  expect(second.requests).toEqual([]);
  expect(reports(events)).toMatchObject([{ model: 'third', requestCost: 7 }]);
  expect(notices(events)).toEqual([
    expect.stringMatching(/second cannot be used: .*model\.prices\. Going on with third/),
  ]);
});

test('a fallback during a compaction is reported, and its summary charged', async () => {
  const first = named('first', [long('a'), long('b'), noCredit]);
  const second = named('second', [{ text: 'Notes.' }]);
  const model = withFallbacks(first.model, second.model);
  const { agent } = agentKit([], { model, prices: pricesOf({ first: 1, second: 5 }) });
  await endOf(agent, 'one');
  await endOf(agent, 'two');
  const events = await collect(agent.compact(never));
  expect(notices(events)).toEqual(['first cannot answer: no credit. Going on with second.']);
  expect(events.at(-1)).toMatchObject({ compaction: { method: 'summary', spent: { requestCost: 5 } } });
  expect(agent.spending.cost).toBe(7);
});

test('with a limit of cost a side model without a price writes no summary', async () => {
  const side = named('side', [{ text: 'Notes.' }]);
  const options = { sideModel: side.model, budgets: { cost: 50 }, prices: pricesOf({ scripted: 1 }) };
  const { agent } = agentKit([long('a'), long('b')], options);
  await endOf(agent, 'one');
  await endOf(agent, 'two');
  expect((await collect(agent.compact(never))).at(-1)).toMatchObject({ compaction: { method: 'drop' } });
  expect([side.requests, agent.spending.cost]).toEqual([[], 2]);
});

test('a summary that uses up the budget is the last request', async () => {
  const options = { budgets: { cost: 3 }, prices: pricesOf({ scripted: 1 }) };
  const probe = agentKit([long('a'), long('b')], options);
  await endOf(probe.agent, 'one');
  await endOf(probe.agent, 'two');
  const contextWindow = Math.round(probe.agent.contextTokens / 0.85);
  const { agent, model } = agentKit([long('a'), long('b'), { text: 'Notes.' }], { ...options, contextWindow });
  await endOf(agent, 'one');
  await endOf(agent, 'two');
  expect(await endOf(agent, 'three')).toMatchObject({ reason: 'max-cost' });
  expect(model.requests).toHaveLength(3);
});

test('an answer that was thrown away counts', async () => {
  const usage = { inputTokens: 1_000, outputTokens: 500, cachedInputTokens: 0, reasoningTokens: 500 };
  const { model: inner } = named('first', [{ text: 'hi' }]);
  const model: Model = {
    ...inner,
    async *stream(request, signal) {
      yield { type: 'retry', attempt: 1, delayMs: 0, reason: 'empty', usage };
      yield* inner.stream(request, signal);
    },
  };
  const { agent } = agentKit([], { model, prices: pricesOf({ first: 3 }) });
  const end = await endOf(agent, 'go');
  expect([end.cost, agent.spending.cost]).toEqual([6, 6]);
  expect(end.usage.reasoningTokens).toBe(500);
});

test('summaries and thrown away answers of a subagent count for its parent', async () => {
  const spent = {
    request: { inputTokens: 9, outputTokens: 1, cachedInputTokens: 0, reasoningTokens: 0 },
    requestCost: 4,
  };
  const compaction = { method: 'summary' as const, tokensBefore: 2, tokensAfter: 1, spent, history: [] };
  const inner: AgentEvent[] = [
    { type: 'retry', attempt: 1, delayMs: 0, reason: 'empty', spent },
    { type: 'compaction-end', compaction },
  ];
  const runner = {
    run: () =>
      Object.assign(Promise.resolve([]), {
        async *[Symbol.asyncIterator]() {
          for (const event of inner)
            yield await Promise.resolve({ type: 'subagent-event' as const, callId: 'c', event });
          return [];
        },
      }),
  };
  const steps = [{ calls: [{ name: 'look', args: { text: 'x' } }] }, { text: 'done' }];
  const { agent } = agentKit(steps, { runner, prices: pricesOf({ scripted: 1 }) });
  expect((await endOf(agent, 'go')).cost).toBe(1 + 4 + 4 + 1);
});
