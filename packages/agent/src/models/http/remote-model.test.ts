import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { type ModelServer, modelServer, type ServerScript } from '../../../../../testing/model-server.js';
import type { Message, ModelEvent, ModelRequest } from '../model.js';
import { ModelError } from '../model-error.js';
import { anthropic } from '../wire/anthropic/anthropic.js';
import { gemini } from '../wire/gemini/gemini.js';
import { openai } from '../wire/openai/openai.js';
import { responses } from '../wire/responses/responses.js';
import { RemoteModel, type RemoteModelOptions } from './remote-model.js';

const formats = [
  { provider: 'openai', wire: openai, prefix: '/v1' },
  { provider: 'anthropic', wire: anthropic, prefix: '/v1' },
  { provider: 'gemini', wire: gemini, prefix: '/v1beta' },
  { provider: 'responses', wire: responses, prefix: '/v1' },
] as const;
type Format = (typeof formats)[number];

const tools = ['read_file', 'write_file'].map((name) => ({
  name,
  description: `${name}.`,
  parametersJsonSchema: { type: 'object', properties: { path: { type: 'string' } } },
}));
const never = new AbortController().signal;
const user = (text: string): Message => ({ role: 'user', parts: [{ text }] });
const request: ModelRequest = { system: 'Be brief.', history: [user('hi')], tools };

function modelAt(
  server: Pick<ModelServer, 'url'>,
  format: Format,
  options: Partial<RemoteModelOptions> = {},
): RemoteModel {
  return new RemoteModel(format.wire, {
    provider: format.provider,
    baseUrl: server.url + format.prefix,
    apiKey: 'secret-key-1',
    keyVariable: 'TEST_KEY',
    model: 'm1',
    contextWindow: 100_000,
    supports: { images: true, tools: true, pdf: true },
    retry: { firstDelayMs: 1, maxDelayMs: 2 },
    ...options,
  });
}

async function ask(model: RemoteModel, asked = request, signal = new AbortController().signal): Promise<ModelEvent[]> {
  const events: ModelEvent[] = [];
  for await (const event of model.stream(asked, signal)) events.push(event);
  return events;
}

async function askServer(script: ServerScript, format: Format, options: Partial<RemoteModelOptions> = {}) {
  const server = await modelServer(script);
  return { server, events: await ask(modelAt(server, format, options)) };
}

function deltas(events: ModelEvent[], type: 'text-delta' | 'reasoning-delta'): string {
  const start = events.findLastIndex((event) => event.type === 'retry') + 1;
  return events
    .slice(start)
    .flatMap((event) => (event.type === type ? [event.text] : []))
    .join('');
}

const finishOf = (events: ModelEvent[]) => events.findLast((event) => event.type === 'finish');
const callsOf = (events: ModelEvent[]) => events.flatMap((event) => (event.type === 'call' ? [event.call] : []));
const brokenOf = (events: ModelEvent[]) => events.flatMap((event) => (event.type === 'broken-call' ? [event] : []));

test.each(formats)('$provider: reasoning, text, two calls and usage of one answer', async (format) => {
  const { events } = await askServer(
    [
      {
        reasoning: 'Let me think…',
        text: 'I read both: äöü 你好 👍.',
        calls: [
          { id: 'a', name: 'read_file', args: { path: '/a "b"\n' } },
          { id: 'b', name: 'read_file', args: {} },
        ],
        usage: { input: 120, output: 30, cached: 100 },
      },
    ],
    format,
  );
  expect(deltas(events, 'reasoning-delta')).toBe('Let me think…');
  expect(deltas(events, 'text-delta')).toBe('I read both: äöü 你好 👍.');
  expect(callsOf(events)).toEqual([
    { id: 'a', name: 'read_file', args: { path: '/a "b"\n' } },
    { id: 'b', name: 'read_file', args: {} },
  ]);
  expect(finishOf(events)).toMatchObject({
    reason: 'calls',
    usage: { inputTokens: 120, outputTokens: 30, cachedInputTokens: 100, reasoningTokens: 0 },
    message: { role: 'model', provider: format.provider },
  });
  expect(events.filter(({ type }) => type === 'finish')).toHaveLength(1);
});

test.each(formats)('$provider: what the model said goes back to it as it was, with its signatures', async (format) => {
  const server = await modelServer([
    { reasoning: 'hm', text: 'reading', calls: [{ name: 'read_file', args: { path: 'x' } }] },
    { text: 'done' },
  ]);
  const model = modelAt(server, format);
  const first = finishOf(await ask(model));
  const id = first?.message.parts.at(-1)?.functionCall?.id;
  const history: Message[] = [
    user('hi'),
    first!.message,
    { role: 'tool', parts: [{ functionResponse: { id: id!, name: 'read_file', response: { output: 'text of x' } } }] },
  ];
  expect(finishOf(await ask(model, { ...request, history }))?.reason).toBe('stop');
  expect(server.requests[1]?.body).toMatchSnapshot();
  expect(server.requests[1]?.path).toMatch(/^\/v1/);
});

test.each(formats)('$provider: the same history of another provider goes without its signatures', async (format) => {
  const server = await modelServer([{ text: 'ok' }]);
  const history: Message[] = [
    user('hi'),
    {
      role: 'model',
      provider: 'someone-else',
      parts: [
        { text: 'secret thought', thought: true, thoughtSignature: 'foreign' },
        { functionCall: { id: 'functions.x:0', name: 'bad name!', args: {} }, thoughtSignature: 'foreign' },
      ],
    },
    { role: 'tool', parts: [{ functionResponse: { id: 'functions.x:0', response: { error: 'no such tool' } } }] },
  ];
  await ask(modelAt(server, format), { ...request, history });
  const sent = JSON.stringify(server.requests[0]?.body);
  expect(sent).not.toContain('foreign');
  expect(sent).not.toContain('secret thought');
  expect(sent).toContain('bad_name_');
});

// RX02
test.each(formats)('$provider: an answer cut by its limit inside a call never yields that call', async (format) => {
  const { events } = await askServer(
    [{ calls: [{ name: 'write_file', args: { path: 'x', content: 'half' } }], finish: 'length' }],
    format,
  );
  expect(callsOf(events)).toEqual([]);
  expect(brokenOf(events)).toMatchObject([
    { name: 'write_file', problem: expect.stringContaining('cut off') as string },
  ]);
  expect(finishOf(events)?.reason).toBe('length');
});

// RX18
test.each(formats)('$provider: a refusal ends the turn cleanly and runs nothing', async (format) => {
  const { events, server } = await askServer(
    [{ text: 'I cannot', finish: 'filter', calls: [{ name: 'read_file' }] }],
    format,
  );
  expect(callsOf(events)).toEqual([]);
  expect(finishOf(events)?.reason).toBe('filter');
  expect(server.requests).toHaveLength(1);
});

test.each(formats)(
  '$provider: a reset at every event boundary is retried without a call twice or in part',
  async (format) => {
    const turn = {
      text: 'two calls',
      calls: [
        { id: 'a', name: 'read_file', args: { path: 'x' } },
        { id: 'b', name: 'write_file', args: { path: 'y' } },
      ],
    };
    const recording = (await askServer([turn], format)).server.bodies[0] ?? '';
    const boundaries = [...recording.matchAll(/\n\n/g)].map((match) => match.index + 2);
    expect(boundaries.length).toBeGreaterThan(2);
    for (const afterBytes of [0, ...boundaries]) {
      const { events } = await askServer([{ ...turn, fault: { kind: 'reset', afterBytes } }, turn], format);
      expect(callsOf(events)).toEqual(turn.calls);
      expect(brokenOf(events)).toEqual([]);
      expect(deltas(events, 'text-delta')).toBe('two calls');
    }
  },
);

// RN02
test.each(formats)('$provider: an answer that ends too early at any byte is asked for again', async (format) => {
  const turn = { calls: [{ id: 'a', name: 'write_file', args: { path: 'x' } }] };
  const length = Buffer.byteLength((await askServer([turn], format)).server.bodies[0] ?? '');
  for (let afterBytes = 1; afterBytes < length; afterBytes += process.env['LATHE_LONG'] ? 1 : 17) {
    const { events } = await askServer([{ ...turn, fault: { kind: 'end', afterBytes } }, turn], format);
    expect(callsOf(events)).toEqual(turn.calls);
  }
});

// RN12: 64 kbit/s
test('an answer over a slow line takes its time and arrives piece by piece', async () => {
  const server = await modelServer([{ text: 'word '.repeat(150), fault: { kind: 'slow', bytes: 800, everyMs: 100 } }]);
  const arrivals: number[] = [];
  // The whole takes longer than silence may.
  for await (const event of modelAt(server, formats[0], { limits: { idleMs: 1_000 } }).stream(request, never)) {
    expect(event.type).not.toBe('retry');
    if (event.type === 'text-delta') arrivals.push(performance.now());
  }
  expect((arrivals.at(-1) ?? 0) - (arrivals[0] ?? 0)).toBeGreaterThan(1_000);
});

// RN13
test('a machine that slept in the middle of an answer asks at most once more', async () => {
  const { body, url, close } = await serverInAnotherThread();
  const model = modelAt({ url }, formats[0], { limits: { idleMs: 400 } });
  const sleep = setTimeout(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_200), 100);
  const events = await ask(model).finally(() => clearTimeout(sleep));
  await close();
  expect(events.filter(({ type }) => type === 'retry').length).toBeLessThanOrEqual(1);
  expect(callsOf(events)).toEqual([{ id: 'a', name: 'read_file', args: { path: 'x' } }]);
  expect(body).toContain('read_file');
});

/** A server that continues while this thread does nothing. Its answers pause in the middle. */
async function serverInAnotherThread() {
  const recorder = await modelServer([{ calls: [{ id: 'a', name: 'read_file', args: { path: 'x' } }] }]);
  await ask(modelAt(recorder, formats[0]));
  const [body = ''] = recorder.bodies;
  const code = `
    const { workerData: body, parentPort } = require('node:worker_threads');
    const server = require('node:http').createServer((request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(body.slice(0, body.length / 2));
      setTimeout(() => response.end(body.slice(body.length / 2)), 300);
    });
    server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));`;
  const worker = new Worker(code, { eval: true, workerData: body });
  const [port] = await once(worker, 'message');
  return { body, url: `http://127.0.0.1:${port}`, close: () => worker.terminate() };
}

// RN03
test.each(formats)('$provider: silence is noticed and retried', async (format) => {
  const { events } = await askServer(
    [{ text: 'half of it', fault: { kind: 'stall', afterBytes: 250 } }, { text: 'whole' }],
    format,
    { limits: { idleMs: 50 } },
  );
  expect(events.find(({ type }) => type === 'retry')).toMatchObject({
    attempt: 1,
    reason: expect.stringContaining('silent') as string,
  });
  expect(deltas(events, 'text-delta')).toBe('whole');
});

test.each(formats)(
  '$provider: an abort in the middle of an answer ends it with the reason of the signal',
  async (format) => {
    const server = await modelServer([
      { text: 'never ending '.repeat(40), fault: { kind: 'stall', afterBytes: 3000 } },
    ]);
    const controller = new AbortController();
    const reason = new Error('stop it');
    const run = async () => {
      for await (const event of modelAt(server, format).stream(request, controller.signal))
        if (event.type === 'text-delta') controller.abort(reason);
    };
    await expect(run()).rejects.toBe(reason);
  },
);

const failure = async (script: ServerScript, options: Partial<RemoteModelOptions> = {}): Promise<ModelError> => {
  const error = await askServer(script, formats[0], options).catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(ModelError);
  return error as ModelError;
};

// RN06
test.each([
  [401, '{"error":{"message":"Incorrect API key provided: secret-key-1"}}', 'auth', /TEST_KEY.*\[redacted\]/],
  [403, '{"error":{"message":"no access"}}', 'auth', /does not let this key use m1/],
  [404, '{"error":{"message":"no model"}}', 'not-found', /does not know the model m1/],
  [413, '', 'too-long', /does not fit/],
  [400, '{"error":{"code":"context_length_exceeded","message":"maximum context length is 8192"}}', 'too-long', /8192/],
  [400, '{"error":"tools: bad schema"}', 'bad-request', /bad schema/],
  [402, '{}', 'quota', /credit/],
  [429, '{"error":{"code":"insufficient_quota","message":"pay"}}', 'quota', /pay/],
  [307, '', 'bad-response', /base URL/],
] as const)('status %i is explained and not retried', async (status, body, kind, message) => {
  const server = await modelServer([{ fault: { kind: 'status', status, body } }]);
  const error = await ask(modelAt(server, formats[0])).catch((caught: unknown) => caught);
  expect(error).toMatchObject({ kind, status, isTransient: false });
  expect((error as Error).message).toMatch(message);
  expect((error as Error).message).not.toContain('secret-key-1');
  expect(server.requests).toHaveLength(1);
});

// RN05
test.each([408, 429, 500, 502, 503, 504, 529])('status %i is retried', async (status) => {
  const { events } = await askServer([{ fault: { kind: 'status', status } }, { text: 'ok' }], formats[0]);
  expect(events.map(({ type }) => type)).toEqual(['retry', 'text-delta', 'finish']);
});

test('retries are bounded and the last error is reported', async () => {
  const error = await failure([{ fault: { kind: 'status', status: 503, body: '<html><title>Bad Gateway</title>' } }], {
    retry: { firstDelayMs: 1, maxRetries: 3 },
  });
  expect(error.message).toMatch(/Bad Gateway.*Gave up after 4 attempts/);
});

// RN07
test.each([
  ['a web page with status 200', { headers: { 'content-type': 'text/html' }, body: '<title>Login</title>' }, /Login/],
  ['text that is not an event', { body: 'hello\n\n' }, /empty answer/],
  ['an empty body', { body: '' }, /empty answer/],
  ['JSON that is not an answer', { headers: { 'content-type': 'application/json' }, body: '{"ok":true}' }, /broke off/],
  ['damaged events', { body: 'data: {"choices":[{"delta":{"con\n\n' }, /damaged/],
  ['an unknown encoding', { headers: { 'content-encoding': 'zstd' }, body: 'xx' }, /zstd/],
])('%s is a typed error', async (_, fault, message) => {
  const error = await failure([{ fault: { kind: 'raw', ...fault } }], { retry: { firstDelayMs: 1, maxRetries: 1 } });
  expect(error.message).toMatch(message);
});

test('an error inside a stream is classified like a status', async () => {
  const body =
    'data: {"choices":[{"delta":{"content":"a"}}]}\n\ndata: {"error":{"code":401,"message":"key expired"}}\n\n';
  expect(await failure([{ fault: { kind: 'raw', body } }])).toMatchObject({ kind: 'auth' });
});

// RN09
test('a compressed answer is read, and a truncated one retried', async () => {
  const { events } = await askServer(
    [
      { text: 'first', fault: { kind: 'gzip', afterBytes: 60 } },
      { text: 'second', fault: { kind: 'gzip' } },
    ],
    formats[0],
  );
  expect(deltas(events, 'text-delta')).toBe('second');
});

test('a server that does not stream is understood', async () => {
  const body = JSON.stringify({
    choices: [
      {
        finish_reason: 'tool_calls',
        message: {
          content: 'hm',
          tool_calls: [{ id: 'a', function: { name: 'read_file', arguments: '{"path":"x"}' } }],
        },
      },
    ],
  });
  const { events } = await askServer(
    [{ fault: { kind: 'raw', body, headers: { 'content-type': 'application/json' } } }],
    formats[0],
  );
  expect(callsOf(events)).toEqual([{ id: 'a', name: 'read_file', args: { path: 'x' } }]);
  expect(finishOf(events)?.usage.isEstimate).toBe(true);
});

test('an empty answer is retried once, then passed on', async () => {
  const { events, server } = await askServer([{ text: '  ' }], formats[0]);
  expect(server.requests).toHaveLength(2);
  expect(finishOf(events)).toMatchObject({ reason: 'stop' });
});

// RN14
test('an abort while waiting to retry takes effect at once', async () => {
  const server = await modelServer([{ fault: { kind: 'status', status: 429, headers: { 'retry-after': '3600' } } }]);
  const controller = new AbortController();
  const model = modelAt(server, formats[0], { retry: {} });
  const run = async () => {
    for await (const event of model.stream(request, controller.signal)) {
      const isLongEnough = event.type === 'retry' && event.delayMs >= 60_000;
      expect({ ...event, isLongEnough }).toMatchObject({ type: 'retry', attempt: 1, isLongEnough: true });
      setImmediate(() => controller.abort());
    }
  };
  await expect(run()).rejects.toThrow(/abort/i);
});

// RN01
test('the error says that no server is listening', async () => {
  const server = await modelServer([]);
  await server.close();
  const error = await ask(modelAt(server, formats[0], { retry: { firstDelayMs: 1, maxRetries: 1 } })).catch(
    (caught: unknown) => caught,
  );
  expect(error).toMatchObject({ kind: 'network' });
  expect((error as Error).message).toMatch(/is the server running/);
});

// RN15
test('an answer without end is stopped by its size', async () => {
  const error = await failure([{ text: 'x'.repeat(100_000) }], {
    limits: { maxBytes: 50_000 },
    retry: { maxRetries: 0 },
  });
  expect(error).toMatchObject({ kind: 'timeout' });
});

test('half surrogate pairs in the history are replaced before sending', async () => {
  const server = await modelServer([{ text: 'ok' }]);
  await ask(modelAt(server, formats[0]), { ...request, history: [user('a\ud800b "\\ud800"')] });
  expect(server.requests[0]?.body['messages']).toMatchObject([{}, { content: 'a\ufffdb "\\ud800"' }]);
});

test('connections are kept between requests', async () => {
  const server = await modelServer([{ text: 'ok' }]);
  const model = modelAt(server, formats[0]);
  for (let count = 0; count < 3; count++) await ask(model);
  expect(new Set(server.ports).size).toBe(1);
});

test('an option that the server rejects is left out from then on, and said', async () => {
  const rejects = (message: string) => ({
    fault: { kind: 'status' as const, status: 400, body: JSON.stringify({ error: { message } }) },
  });
  const server = await modelServer([
    rejects('Your organization must be verified to generate reasoning summaries.'),
    rejects('Encrypted content is not supported with this model.'),
    { text: 'ok' },
  ]);
  const model = modelAt(server, { provider: 'responses', wire: responses, prefix: '/v1' });
  const events = await ask(model, { ...request, effort: 'low' });
  expect(events.flatMap((event) => (event.type === 'retry' ? [event.reason] : []))).toEqual([
    'responses does not take reasoning.summary for m1; asking without it.',
    'responses does not take include for m1; asking without it.',
  ]);
  await ask(model, { ...request, effort: 'low' });
  const sent = server.requests.map(({ body: { reasoning, include } }) => ({ reasoning, include }));
  expect(sent).toEqual([
    { reasoning: { effort: 'low', summary: 'auto' }, include: ['reasoning.encrypted_content'] },
    { reasoning: { effort: 'low' }, include: ['reasoning.encrypted_content'] },
    { reasoning: { effort: 'low' } },
    { reasoning: { effort: 'low' } },
  ]);
});

test('a request that is wrong for another reason is not repeated', async () => {
  const body = JSON.stringify({ error: { message: 'input[3] is not valid' } });
  const server = await modelServer([{ fault: { kind: 'status', status: 400, body } }]);
  const model = modelAt(server, { provider: 'responses', wire: responses, prefix: '/v1' });
  await expect(ask(model)).rejects.toThrow('input[3]');
  expect(server.requests).toHaveLength(1);
});
