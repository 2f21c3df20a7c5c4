import { setTimeout as sleep } from 'node:timers/promises';
import { defineTool } from '@lathe/core';
import { expect, test } from 'vitest';
import { agentKit, collect, endOf, faults } from '../../../../testing/agent-kit.js';
import { ModelError } from '../models/model-error.js';
import { askedText } from './conversation.js';

const never = new AbortController().signal;
const call = (name: string, text: string, id?: string) => ({ name, args: { text }, ...(id !== undefined && { id }) });

test('a prompt becomes calls, results and an answer', async () => {
  const { agent, model, notes } = agentKit([{ text: 'First I note.', calls: [call('note', 'a')] }, { text: 'Done.' }]);
  const events = await collect(agent.prompt('note a', never));
  const types = events.map(({ type }) => type).filter((type) => type !== 'text-delta' && type !== 'call-update');
  expect(types).toEqual([
    'prompt-start',
    'message-add',
    'turn-start',
    'message-add',
    'usage',
    'call-end',
    'message-add',
    'turn-start',
    'message-add',
    'usage',
    'prompt-end',
  ]);
  expect(events.at(-1)).toMatchObject({ type: 'prompt-end', end: { reason: 'done', text: 'Done.', turns: 2 } });
  expect(notes).toEqual(['a']);
  expect(agent.history.map(({ role }) => role)).toEqual(['user', 'model', 'tool', 'model']);
  expect(model.requests[1]?.history).toEqual(agent.history.slice(0, 3));
});

test('each request starts with the previous one, so that caches work', async () => {
  const { agent, model } = agentKit([
    { calls: [call('look', '1'), call('look', '2')] },
    { calls: [call('look', '3')] },
    { text: 'ok' },
    { text: 'again' },
  ]);
  await endOf(agent, 'one');
  await endOf(agent, 'two');
  const sent = model.requests.map(({ system, tools, history }) =>
    JSON.stringify([system, tools, ...history]).slice(0, -1),
  );
  for (const [index, text] of sent.slice(1).entries()) expect(text.startsWith(sent[index] ?? '?')).toBe(true);
});

// RX05
test('ids that a model repeats or omits become unique', async () => {
  const { agent } = agentKit([
    { calls: [call('look', '1', 'x'), call('look', '2', 'x'), call('look', '3', '')] },
    { calls: [call('look', '4', 'x')] },
    { text: 'ok' },
  ]);
  await endOf(agent, 'go');
  expect(faults(agent.history)).toEqual([]);
});

// RX06
test('500 calls in one turn give 500 results in order', async () => {
  const calls = Array.from({ length: 500 }, (_, index) => call('look', String(index)));
  const { agent } = agentKit([{ calls }, { text: 'ok' }]);
  expect((await endOf(agent, 'go')).reason).toBe('done');
  const results = agent.history[2]?.parts.map(({ functionResponse }) => functionResponse?.response?.['output']);
  expect(results).toEqual(calls.map(({ args }) => args.text));
});

test('an incomplete call gets an error result and does not run', async () => {
  const { agent, notes } = agentKit([
    { brokenCalls: [{ name: 'note', problem: 'The arguments were cut off.' }], reason: 'length' },
    { text: 'ok' },
  ]);
  await endOf(agent, 'go');
  expect(notes).toEqual([]);
  expect(agent.history[2]?.parts[0]?.functionResponse?.response?.['error']).toContain('cut off');
});

// RX10
test('a call in text or reasoning does not run', async () => {
  const written = '{"name": "note", "arguments": {"text": "x"}} <tool_call>note</tool_call>';
  const { agent, notes } = agentKit([{ reasoning: written, text: written }]);
  expect((await endOf(agent, 'go')).reason).toBe('done');
  expect(notes).toEqual([]);
});

// RX11
test('an empty answer is retried twice, then the prompt ends', async () => {
  const { agent, model } = agentKit([{}, { text: '  \n' }, { reasoning: 'hm' }, { text: 'too late' }]);
  const end = await endOf(agent, 'go');
  expect(end).toMatchObject({ reason: 'empty', turns: 3 });
  expect(model.requests).toHaveLength(3);
  expect(faults(agent.history)).toEqual([]);
});

test('an answer after an empty one counts', async () => {
  const { agent } = agentKit([{}, { text: 'here' }]);
  expect(await endOf(agent, 'go')).toMatchObject({ reason: 'done', text: 'here' });
});

test.each([
  ['length', 'length'],
  ['filter', 'filter'],
] as const)('an answer that ends by %s ends the prompt with that reason', async (reason, expected) => {
  const { agent } = agentKit([{ text: 'half an ans', reason }]);
  expect((await endOf(agent, 'go')).reason).toBe(expected);
});

test('an unreachable model ends the prompt with its message, and the next prompt works', async () => {
  const { agent } = agentKit([
    { text: 'I was say', error: new ModelError('auth', 'The key is wrong.') },
    { text: 'ok' },
  ]);
  expect(await endOf(agent, 'go')).toMatchObject({ reason: 'error', message: 'The key is wrong.' });
  expect((await endOf(agent, 'again')).reason).toBe('done');
  expect(faults(agent.history)).toEqual([]);
});

// RN16
test('tools that ran do not run again when the next request fails and the person asks again', async () => {
  const { agent, notes } = agentKit([
    { calls: [call('note', 'once')] },
    { error: new ModelError('network', 'gone') },
    { text: 'ok' },
  ]);
  await endOf(agent, 'go');
  await endOf(agent, 'go on');
  expect(notes).toEqual(['once']);
});

test('an abort while the model writes keeps the text so far and leaves a valid history', async () => {
  const { agent } = agentKit([{ text: 'one two three', delayMs: 1 }, { text: 'ok' }]);
  const controller = new AbortController();
  for await (const event of agent.prompt('go', controller.signal)) if (event.type === 'text-delta') controller.abort();
  expect(agent.history.at(-1)).toMatchObject({
    role: 'model',
    parts: [{ text: expect.stringContaining('[interrupted]') }],
  });
  expect((await endOf(agent, 'next')).reason).toBe('done');
  expect(faults(agent.history)).toEqual([]);
});

const hangTool = defineTool({
  name: 'hang',
  displayName: 'Hang',
  description: 'Waits.',
  kind: 'other',
  parameterSchema: { type: 'object', properties: {} } as const,
  execute: async (_params, signal) => {
    await sleep(60_000, undefined, { signal });
    return { llmContent: 'late', returnDisplay: 'late' };
  },
});

test('RA01 an abort while calls run gives every call one result', async () => {
  const calls = [call('look', '1'), { name: 'hang', args: {} }, call('look', '2')];
  const { agent } = agentKit([{ calls }, { text: 'ok' }], { extraTools: [hangTool] });
  const controller = new AbortController();
  const events = [];
  for await (const event of agent.prompt('go', controller.signal)) {
    events.push(event);
    if (event.type === 'call-update' && event.name === 'hang' && event.status === 'executing') controller.abort();
  }
  expect(events.filter(({ type }) => type === 'call-end')).toHaveLength(3);
  expect(events.at(-1)).toMatchObject({ end: { reason: 'aborted' } });
  expect(faults(agent.history)).toEqual([]);
  expect((await endOf(agent, 'next')).reason).toBe('done');
});

test('an abort before anything happens ends the prompt as well', async () => {
  const { agent, model } = agentKit([{ text: 'ok' }]);
  expect((await endOf(agent, 'go', AbortSignal.abort())).reason).toBe('aborted');
  expect(model.requests).toEqual([]);
});

test('a reader that stops at any event stops the work and leaves a valid history', async () => {
  const script = () => [
    { text: 'look', calls: [call('look', '1'), call('note', '2')] },
    { calls: [call('look', '3')] },
    { text: 'ok' },
  ];
  const whole = await collect(agentKit(script()).agent.prompt('go', never));
  for (let stop = 1; stop <= whole.length; stop++) {
    const { agent } = agentKit(script());
    const events = agent.prompt('go', never);
    for (let read = 0; read < stop; read++) await events.next();
    await events.return(undefined);
    expect(faults(agent.history), `after event ${stop}`).toEqual([]);
    expect((await endOf(agent, 'next')).reason).toBe('done');
    expect(faults(agent.history), `after event ${stop} and another prompt`).toEqual([]);
  }
});

test('two prompts at once are rejected', async () => {
  const { agent } = agentKit([{ text: 'ok' }]);
  const first = agent.prompt('one', never);
  await first.next();
  await expect(agent.prompt('two', never).next()).rejects.toThrow('still working');
  await first.return(undefined);
});

test.each([
  [{ turns: 3 }, 'max-turns'],
  [{ tokens: 1 }, 'max-tokens'],
  [{ cost: 0.000_000_1 }, 'max-cost'],
] as const)('the budget %j ends the prompt with %s', async (budgets, reason) => {
  let count = 0;
  const endless = () => ({ calls: [call('look', String(count++))] });
  const { agent, model } = agentKit(
    Array.from({ length: 10 }, () => endless),
    {
      budgets,
      prices: { costOf: async ({ inputTokens, outputTokens }) => (inputTokens + outputTokens) / 1_000_000 },
    },
  );
  const end = await endOf(agent, 'go');
  expect(end.reason).toBe(reason);
  expect(model.requests.length).toBeLessThanOrEqual(3);
  expect(faults(agent.history)).toEqual([]);
  expect((await endOf(agent, 'more')).reason).toBe(reason);
});

test('a limit of cost allows no request to a model whose price is not known', async () => {
  const { agent, model } = agentKit([{ text: 'hi' }], {
    budgets: { cost: 5 },
    prices: { costOf: async () => undefined },
  });
  expect(await endOf(agent, 'go')).toMatchObject({
    reason: 'max-cost',
    message: expect.stringContaining('model.prices') as string,
  });
  expect(model.requests).toEqual([]);
});

test('the cost of a prompt and of the session is known only if every price is', async () => {
  let price: number | undefined = 2;
  const { agent } = agentKit([{ text: 'a' }, { text: 'b' }, { text: 'c' }], { prices: { costOf: async () => price } });
  expect([(await endOf(agent, 'one')).cost, agent.spending.cost]).toEqual([2, 2]);
  price = undefined;
  expect([(await endOf(agent, 'two')).cost, agent.spending.cost]).toEqual([undefined, undefined]);
  price = 3;
  expect([(await endOf(agent, 'three')).cost, agent.spending.cost]).toEqual([3, undefined]);
});

test('the time budget ends a call that does not end', async () => {
  const { agent } = agentKit([{ calls: [{ name: 'hang', args: {} }] }], {
    extraTools: [hangTool],
    budgets: { milliseconds: 50 },
    scheduler: { graceMs: 10 },
  });
  expect((await endOf(agent, 'go')).reason).toBe('max-time');
  expect(faults(agent.history)).toEqual([]);
});

// SK11
test('the same call with the same result causes a warning the third time and a stop the fifth time', async () => {
  const { agent, model } = agentKit(Array.from({ length: 10 }, () => ({ calls: [call('look', 'same')] })));
  expect(await endOf(agent, 'go')).toMatchObject({ reason: 'loop', turns: 5 });
  const told = model.requests.map(({ history }) => JSON.stringify(history.at(-1)).includes('the same calls'));
  expect(told).toEqual([false, false, false, true, false]);
});

// SK11
test('two alternating calls are a loop as well', async () => {
  const { agent } = agentKit(Array.from({ length: 30 }, (_, index) => ({ calls: [call('look', String(index % 2))] })));
  expect((await endOf(agent, 'go')).reason).toBe('loop');
});

test('reading the same file many times in one turn is not a loop', async () => {
  const calls = Array.from({ length: 30 }, () => call('look', 'same'));
  const { agent } = agentKit([{ calls }, { text: 'ok' }]);
  expect((await endOf(agent, 'go')).reason).toBe('done');
});

test('the same check after different edits is not a loop', async () => {
  const turns = Array.from({ length: 12 }, (_, index) => ({
    calls: [index % 2 ? call('look', 'test fails') : call('note', `edit ${index}`)],
  }));
  const { agent } = agentKit([...turns, { text: 'ok' }]);
  expect((await endOf(agent, 'go')).reason).toBe('done');
});

// RX14
test('an answer that repeats itself without end is cut off', async () => {
  const { agent } = agentKit([{ text: 'I will now do it. '.repeat(20_000) }]);
  const events = await collect(agent.prompt('go', never));
  expect(events.at(-1)).toMatchObject({ end: { reason: 'loop' } });
  expect(events.length).toBeLessThan(10_000);
});

test('hooks can reject a prompt, add to it, and keep the model from stopping, but not forever', async () => {
  let stops = 0;
  const hooks = {
    promptSubmit: async (prompt: string) =>
      prompt.includes('bad')
        ? { block: 'not that', notices: [] }
        : { context: 'It is Monday.', notices: ['slow hook'] },
    stop: async () => ({ block: `tests fail ${++stops}`, notices: [] }),
    preCompact: async () => ({ notices: [] }),
  };
  const { agent, model } = agentKit(
    Array.from({ length: 9 }, () => ({ text: 'done' })),
    { hooks },
  );
  expect((await endOf(agent, 'bad idea')).reason).toBe('blocked');
  expect(agent.history).toEqual([]);
  const events = await collect(agent.prompt('good idea', never));
  expect(agent.history[0]?.parts).toEqual([{ text: 'good idea' }, { text: 'It is Monday.' }]);
  expect(events.filter(({ type }) => type === 'notice')).toContainEqual({
    type: 'notice',
    level: 'warning',
    message: 'slow hook',
  });
  expect(model.requests).toHaveLength(4);
  expect(events.at(-1)).toMatchObject({ end: { reason: 'done' } });
});

// RX04, SK12
test.each(['Note', 'note ', 'n0te', 'nоte', 'notes', ''])('the similar name %j does not match a tool', async (name) => {
  const { agent, notes } = agentKit([{ calls: [{ name, args: { text: 'x' } }] }, { text: 'ok' }]);
  await endOf(agent, 'go');
  expect(notes).toEqual([]);
  expect(agent.history[2]?.parts[0]?.functionResponse?.response?.['error']).toContain('There is no tool named');
});

test('events that nobody read do not appear in the next prompt', async () => {
  const { agent } = agentKit([{ calls: [{ name: 'hang', args: {} }] }, { text: 'ok' }], { extraTools: [hangTool] });
  for await (const event of agent.prompt('go', never)) if (event.type === 'call-update') break;
  const types = new Set((await collect(agent.prompt('next', never))).map(({ type }) => type));
  expect(types.has('call-end')).toBe(false);
});

test('an adapter with a bug ends the prompt, not the program', async () => {
  const { agent } = agentKit([{ error: new TypeError('x is undefined') }, { text: 'ok' }]);
  const warned = new Promise((resolve) => process.once('warning', resolve));
  expect(await endOf(agent, 'go')).toMatchObject({
    reason: 'error',
    message: expect.stringContaining('x is undefined'),
  });
  await warned;
  expect((await endOf(agent, 'again')).reason).toBe('done');
});

test('what a person adds reaches the model with its next request, also when the model was about to stop', async () => {
  const { agent, model } = agentKit([{ calls: [call('look', '1')] }, { text: 'Nearly.' }, { text: 'Done.' }]);
  expect(await agent.steer('too early')).toBe(false);
  const additions: Promise<boolean>[] = [];
  for await (const event of agent.prompt('go', never)) {
    if (event.type === 'call-end') additions.push(agent.steer('first'));
    if (event.type === 'turn-start' && event.turn === 2) additions.push(agent.steer('second'));
  }
  expect(await Promise.all(additions)).toEqual([true, true]);
  const texts = model.requests.map(({ history }) => history.flatMap((message) => askedText(message) || []));
  expect(texts).toEqual([['go'], ['go', 'first'], ['go', 'first', 'second']]);
  expect(agent.history.map(({ role }) => role)).toEqual(['user', 'model', 'tool', 'user', 'model', 'user', 'model']);
  expect(faults(agent.history)).toEqual([]);
});

test('what could not be delivered is reported', async () => {
  const { agent } = agentKit([{ calls: [call('look', '1')] }, { text: 'Never.' }]);
  const controller = new AbortController();
  let addition: Promise<boolean> | undefined;
  for await (const event of agent.prompt('go', controller.signal)) {
    if (event.type !== 'call-end') continue;
    addition = agent.steer('late');
    controller.abort();
  }
  expect(await addition).toBe(false);
});
