import { expect, test } from 'vitest';
import { modelServer } from '../../../../../testing/model-server.js';
import { meantCalls, type ProviderStream, providerStreams } from '../../../../../testing/provider-streams.js';
import { loadWireFormat } from '../choose/providers.js';
import type { ModelEvent, ModelRequest } from '../model.js';
import { ModelError } from '../model-error.js';
import { RemoteModel } from './remote-model.js';

const request: ModelRequest = {
  system: '',
  history: [{ role: 'user', parts: [{ text: 'go' }] }],
  tools: [{ name: 'ls' }],
};

/** What comes out of each of these bodies; an error ends the events. */
async function readAll(stream: ProviderStream, bodies: string[]): Promise<(ModelEvent | ModelError)[][]> {
  let at = 0;
  const server = await modelServer([() => ({ fault: { kind: 'raw', body: bodies[at++] ?? '' } })]);
  const model = new RemoteModel(await loadWireFormat(stream.wire), {
    provider: stream.provider,
    baseUrl: `${server.url}/v1`,
    model: 'm',
    contextWindow: 100_000,
    isRaw: stream.isRaw ?? false,
    supports: { images: false, tools: true, pdf: false },
    retry: { maxRetries: 0 },
  });
  const results: (ModelEvent | ModelError)[][] = [];
  for (const _ of bodies) {
    const events: (ModelEvent | ModelError)[] = [];
    try {
      for await (const event of model.stream(request, new AbortController().signal)) events.push(event);
    } catch (error) {
      if (!(error instanceof ModelError)) throw error;
      events.push(error);
    }
    results.push(events);
  }
  return results;
}

type Events = (ModelEvent | ModelError)[];
const callsOf = (events: Events) =>
  events.flatMap((event) => (!(event instanceof ModelError) && event.type === 'call' ? [event.call] : []));
const withoutIds = (events: Events) => callsOf(events).map(({ name, args }) => ({ name, args }));

function joined(events: Events, type: 'text-delta' | 'reasoning-delta'): string {
  return events
    .flatMap((event) => (!(event instanceof ModelError) && event.type === type && 'text' in event ? [event.text] : []))
    .join('');
}

/** Calls that were not meant, that arrived twice, or whose id another call has. */
function unmeant(events: Events): string[] {
  const left = meantCalls.map((call) => JSON.stringify(call));
  const ids = callsOf(events).map(({ id }) => id);
  return withoutIds(events).flatMap((call, position) => {
    const index = left.indexOf(JSON.stringify(call));
    left.splice(index, index < 0 ? 0 : 1);
    return index < 0 || ids.indexOf(ids[position] ?? '') !== position ? [JSON.stringify(call)] : [];
  });
}

/** Where the provider says that the answer is over. */
const endOf = ({ events }: ProviderStream) =>
  events.findIndex((event) => /"finish_reason":"|"stop_reason":"|"finishReason":|"response\.completed"/.test(event));

test.each(providerStreams)('$name', async (stream) => {
  const [events = []] = await readAll(stream, [stream.events.join('')]);
  expect(withoutIds(events)).toEqual(meantCalls);
  expect(joined(events, 'text-delta')).toBe(stream.text);
  expect(joined(events, 'reasoning-delta')).toBe(stream.reasoning);
  expect(events.at(-1)).toMatchObject({ type: 'finish', reason: 'calls', usage: stream.usage });
});

test.each(providerStreams)('$name: cut anywhere, nothing of it runs', async (stream) => {
  const end = endOf(stream);
  const whole = stream.events.slice(0, end).map((_, count) => stream.events.slice(0, count).join(''));
  const halves = stream.events
    .slice(0, end + 1)
    .map((event, count) => stream.events.slice(0, count).join('') + event.slice(0, event.length / 2));
  for (const events of await readAll(stream, [...whole, ...halves])) {
    expect(callsOf(events)).toEqual([]);
    expect(events.at(-1)).toBeInstanceOf(ModelError);
  }
});

test.each(providerStreams)('$name: a damaged event anywhere makes no call that was not meant', async (stream) => {
  const damaged = stream.events.flatMap((_, at) => [
    stream.events.with(at, 'data: {"choices":[{"del\n\n').join(''),
    stream.events.with(at, 'data: {"type":"error","error":{"type":"overloaded_error"}}\n\n').join(''),
  ]);
  for (const [index, events] of (await readAll(stream, damaged)).entries()) {
    expect(unmeant(events)).toEqual([]);
    if (Math.floor(index / 2) <= endOf(stream)) expect(callsOf(events)).toEqual([]);
  }
});

const toLength: Record<ProviderStream['wire'], (event: string) => string> = {
  chat: (event) => event.replace(/"finish_reason":"\w+"/, '"finish_reason":"length"'),
  messages: (event) => event.replace('"stop_reason":"tool_use"', '"stop_reason":"max_tokens"'),
  gemini: (event) => event.replace('"finishReason":"STOP"', '"finishReason":"MAX_TOKENS"'),
  responses: (event) =>
    event
      .replaceAll('response.completed', 'response.incomplete')
      .replace(
        /"status":"completed","usage"/,
        '"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"usage"',
      ),
};

test.each(providerStreams)('$name: at the output limit the last call does not run', async (stream) => {
  const [events = []] = await readAll(stream, [stream.events.map(toLength[stream.wire]).join('')]);
  expect(unmeant(events)).toEqual([]);
  expect(withoutIds(events)).not.toContainEqual(meantCalls[1]);
  expect(events.at(-1)).toMatchObject({ type: 'finish', reason: 'length' });
});

test.each(providerStreams)('$name: the same id twice makes no other call', async (stream) => {
  const ids = /"(call_id|id|tool_use_id)":"(?:call|tool|functions|fc_|D68|E00|srv)[^"]*"/g;
  const [events = []] = await readAll(stream, [stream.events.join('').replace(ids, '"$1":"same"')]);
  expect(unmeant(events)).toEqual([]);
});

test('the streams are those of at least twelve providers', () => {
  expect(new Set(providerStreams.map(({ provider }) => provider)).size).toBeGreaterThanOrEqual(12);
});
