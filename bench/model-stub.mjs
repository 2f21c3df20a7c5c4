// A model on loopback for benchmarks, in the wire formats of all the programs that are measured, answering at once.
// It follows a plan of tool calls and notes when each request of the conversation came and when its answer was out.
import { createServer } from 'node:http';

/** Requests by path: each format writes an answer as a stream, and "ok" as a whole. */
const formats = [
  [/\/chat\/completions$/, { stream: chat, whole: wholeChat }],
  [/\/responses$/, { stream: responses, whole: wholeChat }],
  [/\/messages$/, { stream: messages, whole: wholeMessage }],
  [/:(stream)?generateContent$/i, { stream: contents, whole: wholeContent }],
];

/** `plan`: `{ turns, width, call(index, offered) }` is `turns` answers with `width` calls each, then "ok". */
export async function modelStub() {
  const stub = { plan: { turns: 0 }, turn: 0, requests: [], holdMs: 0, onFirst: undefined };
  const server = createServer((request, response) => {
    const arrived = performance.now();
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => void answer(stub, request, response, Buffer.concat(chunks).toString(), arrived));
  });
  // Programs that would rather have a web socket fall back to plain requests.
  server.on('upgrade', (_request, socket) => socket.end('HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n'));
  server.keepAliveTimeout = 60_000;
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  stub.url = `http://127.0.0.1:${server.address().port}`;
  stub.reset = (plan, { holdMs = 0, onFirst } = {}) =>
    Object.assign(stub, { plan, turn: 0, requests: [], holdMs, onFirst });
  stub.close = () => {
    server.closeAllConnections();
    server.close();
  };
  return stub;
}

async function answer(stub, request, response, body, arrived) {
  const path = request.url.split('?')[0];
  const format = formats.find(([pattern]) => request.method === 'POST' && pattern.test(path))?.[1];
  if (!format) {
    response.writeHead(200, { 'content-type': 'application/json' });
    return response.end(JSON.stringify({ object: 'list', data: [{ id: 'stub', object: 'model' }] }));
  }
  const { tools = [], stream = /:stream/i.test(path), model } = JSON.parse(body);
  const offered = tools
    .flatMap((tool) => tool.functionDeclarations ?? [tool])
    .map((tool) => tool.function?.name ?? tool.name ?? tool.type);
  const record = { arrived, body, tools: offered.length };
  // Helper requests (titles, summaries) carry no tools and are not part of the conversation.
  if (offered.length > 0 && stub.requests.push(record) === 1) {
    stub.onFirst?.();
    if (stub.holdMs > 0) await new Promise((resolve) => setTimeout(resolve, stub.holdMs));
  }
  const calls = offered.length > 0 ? nextCalls(stub, offered) : [];
  const finished = () => (record.answered = performance.now());
  response.writeHead(200, { 'content-type': stream ? 'text/event-stream' : 'application/json' });
  if (!stream) return response.end(JSON.stringify(format.whole(model)), finished);
  response.end(
    format.stream(calls, model, { count: stub.requests.length, tokens: Math.ceil(body.length / 4) }),
    finished,
  );
}

function nextCalls(stub, offered) {
  const { turns, width, call } = stub.plan;
  if (stub.turn >= turns) return [];
  const first = stub.turn++ * width;
  return Array.from({ length: width }, (_, index) => call(first + index, offered));
}

const data = (value) => `data: ${JSON.stringify(value)}\n\n`;

function chat(calls, model, { count, tokens }) {
  const chunk = (delta, finish_reason = null) =>
    data({
      id: `c${count}`,
      object: 'chat.completion.chunk',
      created: 1,
      model,
      choices: [{ index: 0, delta, finish_reason }],
    });
  const tool_calls = calls.map(({ name, args }, index) => ({
    index,
    id: `call_${count}_${index}`,
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
  }));
  const usage = { prompt_tokens: tokens, completion_tokens: 10, total_tokens: tokens + 10 };
  return [
    chunk({ role: 'assistant', content: '' }),
    ...(calls.length > 0 ? tool_calls.map((call) => chunk({ tool_calls: [call] })) : [chunk({ content: 'ok' })]),
    chunk({}, calls.length > 0 ? 'tool_calls' : 'stop'),
    data({ id: `c${count}`, object: 'chat.completion.chunk', created: 1, model, choices: [], usage }),
    'data: [DONE]\n\n',
  ].join('');
}

function wholeChat(model) {
  const message = { role: 'assistant', content: 'ok' };
  return {
    id: 'c',
    object: 'chat.completion',
    created: 1,
    model,
    choices: [{ index: 0, finish_reason: 'stop', message }],
  };
}

const event = (type, fields) => `event: ${type}\n${data({ type, ...fields })}`;

function responses(calls, model, { count, tokens }) {
  const response = { id: `r${count}`, object: 'response', created_at: 1, model, status: 'in_progress', output: [] };
  const output = calls.map(({ name, args }, index) => ({
    type: 'function_call',
    id: `fc_${count}_${index}`,
    call_id: `call_${count}_${index}`,
    name,
    arguments: JSON.stringify(args),
    status: 'completed',
  }));
  if (calls.length === 0) {
    const content = [{ type: 'output_text', text: 'ok', annotations: [] }];
    output.push({ type: 'message', id: `m${count}`, role: 'assistant', status: 'completed', content });
  }
  const usage = { input_tokens: tokens, output_tokens: 10, total_tokens: tokens + 10 };
  return [
    event('response.created', { response }),
    ...output.flatMap((item, output_index) => [
      event('response.output_item.added', { output_index, item }),
      event('response.output_item.done', { output_index, item }),
    ]),
    event('response.completed', { response: { ...response, status: 'completed', output, usage } }),
  ].join('');
}

function wholeMessage(model, tokens = 1000, content = [{ type: 'text', text: 'ok' }], stop_reason = 'end_turn') {
  const usage = { input_tokens: tokens, output_tokens: 10 };
  return { id: 'm', type: 'message', role: 'assistant', model, content, stop_reason, stop_sequence: null, usage };
}

function messages(calls, model, { count, tokens }) {
  const blocks = calls.map(({ name, args }, index) => ({
    start: { type: 'tool_use', id: `toolu_${count}_${index}`, name, input: {} },
    delta: { type: 'input_json_delta', partial_json: JSON.stringify(args) },
  }));
  if (calls.length === 0) blocks.push({ start: { type: 'text', text: '' }, delta: { type: 'text_delta', text: 'ok' } });
  const stop_reason = calls.length > 0 ? 'tool_use' : 'end_turn';
  return [
    event('message_start', { message: wholeMessage(model, tokens, [], null) }),
    ...blocks.flatMap(({ start, delta }, index) => [
      event('content_block_start', { index, content_block: start }),
      event('content_block_delta', { index, delta }),
      event('content_block_stop', { index }),
    ]),
    event('message_delta', { delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 10 } }),
    event('message_stop', {}),
  ].join('');
}

function wholeContent(_model, tokens = 1000, parts = [{ text: 'ok' }]) {
  const usageMetadata = { promptTokenCount: tokens, candidatesTokenCount: 10, totalTokenCount: tokens + 10 };
  return { candidates: [{ index: 0, content: { role: 'model', parts }, finishReason: 'STOP' }], usageMetadata };
}

function contents(calls, model, { count, tokens }) {
  const parts = calls.map(({ name, args }, index) => ({ functionCall: { id: `g${count}_${index}`, name, args } }));
  return data(wholeContent(model, tokens, calls.length > 0 ? parts : undefined));
}
