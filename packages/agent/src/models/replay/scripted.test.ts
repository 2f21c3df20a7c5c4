import { expect, test } from 'vitest';
import type { Model, ModelEvent, ModelRequest } from '../model.js';
import { ModelError } from '../model-error.js';
import { ScriptedModel } from './scripted.js';

const request: ModelRequest = { system: '', history: [{ role: 'user', parts: [{ text: 'hi' }] }], tools: [] };

async function collect(model: Model, signal = new AbortController().signal): Promise<ModelEvent[]> {
  const events: ModelEvent[] = [];
  for await (const event of model.stream(request, signal)) events.push(event);
  return events;
}

test('a turn gives reasoning, text, calls and one finish, in this order', async () => {
  const model = new ScriptedModel([
    { reasoning: 'hm', text: 'I read', calls: [{ name: 'read_file', args: { a: 1 } }] },
  ]);
  const events = await collect(model);
  expect(events.slice(0, -1)).toEqual([
    { type: 'reasoning-delta', text: 'hm' },
    { type: 'text-delta', text: 'I' },
    { type: 'text-delta', text: ' read' },
    { type: 'call', call: { id: 'scripted_0_0', name: 'read_file', args: { a: 1 } } },
  ]);
  expect(events.at(-1)).toMatchObject({
    type: 'finish',
    reason: 'calls',
    message: {
      role: 'model',
      provider: 'scripted',
      parts: [
        { text: 'hm', thought: true },
        { text: 'I read' },
        { functionCall: { id: 'scripted_0_0', name: 'read_file', args: { a: 1 } } },
      ],
    },
  });
});

test('a step may look at the request, and every request is kept', async () => {
  const model = new ScriptedModel([({ history }) => ({ text: `${history.length} message` })]);
  expect(await collect(model)).toContainEqual({ type: 'text-delta', text: ' message' });
  expect(model.requests).toEqual([request]);
});

test('an error is thrown before any call of its turn is delivered', async () => {
  const model = new ScriptedModel([{ calls: [{ name: 'x' }], error: new ModelError('overloaded', 'busy') }]);
  await expect(collect(model)).rejects.toThrow('busy');
});

test('a delay ends at once when the signal aborts', async () => {
  const controller = new AbortController();
  const pending = collect(new ScriptedModel([{ delayMs: 60_000 }]), controller.signal);
  controller.abort();
  await expect(pending).rejects.toThrow(/abort/i);
});

test('it says that it is scripted and that the script is over', async () => {
  const model = new ScriptedModel([]);
  expect([model.id, model.provider]).toEqual(['scripted', 'scripted']);
  expect(await collect(model)).toContainEqual({ type: 'text-delta', text: '(end' });
});
