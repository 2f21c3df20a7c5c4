import { expect, test } from 'vitest';
import { report } from '../../../../../testing/long-run.js';
import { modelServer } from '../../../../../testing/model-server.js';
import { anthropicEvents, geminiEvents, openaiEvents } from '../../../../../testing/model-wire.js';
import { randomBelow, usualSeed } from '../../../../../testing/random.js';
import { responsesEvents } from '../../../../../testing/responses-wire.js';
import type { ModelRequest, ReceivedCall } from '../model.js';
import { ModelError } from '../model-error.js';
import { anthropic } from '../wire/anthropic/anthropic.js';
import { gemini } from '../wire/gemini/gemini.js';
import { openai } from '../wire/openai/openai.js';
import { responses } from '../wire/responses/responses.js';
import { RemoteModel } from './remote-model.js';

const count = process.env['LATHE_LONG'] ? 10_000 : 2_000;
const turn = {
  reasoning: 'thinking about it',
  text: 'Writing both files — déjà vu.',
  calls: [
    { id: 'one', name: 'write_file', args: { path: '/tmp/a', content: 'alpha' } },
    { id: 'two', name: 'write_file', args: { path: '/tmp/b', content: 'beta', flags: [1, true, null] } },
  ],
};
const request: ModelRequest = {
  system: '',
  history: [{ role: 'user', parts: [{ text: 'go' }] }],
  tools: [{ name: 'write_file' }],
};

type Mutation = (events: string[], pick: (below: number) => number) => Buffer;

/** Where an event stands that carries no piece of an argument; a lost or moved piece nobody could notice. */
function place(events: string[], pick: (below: number) => number): number {
  const places = [...events.keys()].filter((at) => !/arguments":"[^"]|partial_json/.test(events[at] ?? ''));
  return places[pick(places.length)] ?? 0;
}

const noise = [
  'data: {"type":"new_kind","x":1}',
  ': ping',
  'event: x\ndata: []',
  'data: 7',
  'data: {"choices":[]}',
  'data: null',
];

/** Damage to the stream as a whole, after which only calls that were meant may come out. */
const structural: Mutation[] = [
  (events, pick) => Buffer.from(events.join('')).subarray(0, pick(Buffer.byteLength(events.join('')))),
  (events, pick) => Buffer.from(events.toSpliced(place(events, pick), 1).join('')),
  (events, pick) => Buffer.from(events.toSpliced(pick(events.length), 0, events[place(events, pick)] ?? '').join('')),
  (events, pick) => {
    const [a, b] = [place(events, pick), place(events, pick)];
    return Buffer.from(
      events
        .with(a, events[b] ?? '')
        .with(b, events[a] ?? '')
        .join(''),
    );
  },
  (events, pick) => Buffer.from(events.toSpliced(pick(events.length), 0, `${noise[pick(noise.length)]}\n\n`).join('')),
];

/** Damage anywhere. A changed byte inside a value cannot be noticed by anyone, but a call never loses its shape. */
const anywhere: Mutation[] = [
  (events, pick) => Buffer.from(events.toSpliced(pick(events.length), 1 + pick(3)).join('')),
  (events, pick) => {
    const bytes = Buffer.from(events.join(''));
    for (let times = 0; times <= pick(4); times++) bytes[pick(bytes.length)] = pick(256);
    return bytes;
  },
  (events, pick) => {
    const bytes = Buffer.from(events.join(''));
    const at = pick(bytes.length);
    return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1 + pick(20))]);
  },
  (events, pick) => {
    const bytes = Buffer.from(events.join(''));
    const at = pick(bytes.length);
    const added = Array.from({ length: pick(9) }, () => pick(256));
    return Buffer.concat([bytes.subarray(0, at), Buffer.from(added), bytes.subarray(at)]);
  },
];

// RX17
test.each([
  ['openai', openai, openaiEvents],
  ['ollama', openai, openaiEvents],
  ['anthropic', anthropic, anthropicEvents],
  ['gemini', gemini, geminiEvents],
  ['responses', responses, responsesEvents],
] as const)('%s: damaged streams crash nothing and make no call that was not meant', async (provider, wire, encode) => {
  let stream = 0;
  let mutation: Mutation = (whole) => Buffer.from(whole.join(''));
  const events = encode(turn, 'm', 1);
  const server = await modelServer([
    () => ({ fault: { kind: 'raw', body: mutation([...events], randomBelow(usualSeed + stream)) } }),
  ]);
  const model = new RemoteModel(wire, {
    provider,
    baseUrl: `${server.url}/v1`,
    model: 'm',
    contextWindow: 100_000,
    isRaw: provider === 'ollama',
    supports: { images: false, tools: true, pdf: false },
    retry: { maxRetries: 0, firstDelayMs: 0 },
  });
  const all = [...structural, ...anywhere];
  let delivered = 0;
  for (stream = 0; stream < count / 4; stream++) {
    mutation = all[stream % all.length] ?? mutation;
    const calls = await callsOf(model);
    delivered += calls.length;
    for (const call of calls) {
      const isMeant = turn.calls.some(
        ({ name, args }) => name === call.name && JSON.stringify(args) === JSON.stringify(call.args),
      );
      if (structural.includes(mutation) && !isMeant)
        expect.fail(`LATHE_SEED=${usualSeed}, stream ${stream} made ${JSON.stringify(call)}`);
      expect(typeof call.args === 'object' && call.name !== '').toBe(true);
    }
  }
  report(`damaged model streams (${provider})`, count / 4);
  expect(delivered).toBeGreaterThan(count / 10);
});

async function callsOf(model: RemoteModel): Promise<ReceivedCall[]> {
  const calls: ReceivedCall[] = [];
  try {
    for await (const event of model.stream(request, new AbortController().signal))
      if (event.type === 'call') calls.push(event.call);
  } catch (error) {
    // Any other error is a crash.
    if (!(error instanceof ModelError)) throw error;
  }
  return calls;
}
