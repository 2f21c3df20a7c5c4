// A model on loopback for benchmarks: Chat Completions and Responses, answering at once. It follows a plan of tool calls
// and notes when each request of the conversation came and when its answer was out.
import { createServer } from 'node:http';

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
  if (request.method !== 'POST' || !/\/(chat\/completions|responses)$/.test(request.url.split('?')[0])) {
    response.writeHead(200, { 'content-type': 'application/json' });
    return response.end(JSON.stringify({ object: 'list', data: [{ id: 'stub', object: 'model' }] }));
  }
  const { tools = [], stream, model } = JSON.parse(body);
  const offered = tools.map((tool) => tool.function?.name ?? tool.name ?? tool.type);
  const record = { arrived, body, tools: offered.length };
  // Helper requests (titles, summaries) carry no tools and are no part of the conversation.
  if (offered.length > 0 && stub.requests.push(record) === 1) {
    stub.onFirst?.();
    if (stub.holdMs > 0) await new Promise((resolve) => setTimeout(resolve, stub.holdMs));
  }
  const calls = offered.length > 0 ? nextCalls(stub, offered) : [];
  const write = request.url.includes('/responses') ? responses : chat;
  const finished = () => (record.answered = performance.now());
  if (stream === false) return response.end(JSON.stringify(whole(model)), finished);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end(write(calls, model, stub.requests.length), finished);
}

function nextCalls(stub, offered) {
  const { turns, width, call } = stub.plan;
  if (stub.turn >= turns) return [];
  const first = stub.turn++ * width;
  return Array.from({ length: width }, (_, index) => call(first + index, offered));
}

const data = (value) => `data: ${JSON.stringify(value)}\n\n`;

function chat(calls, model, count) {
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
  const usage = { prompt_tokens: 1000, completion_tokens: 10, total_tokens: 1010 };
  return [
    chunk({ role: 'assistant', content: '' }),
    ...(calls.length > 0 ? tool_calls.map((call) => chunk({ tool_calls: [call] })) : [chunk({ content: 'ok' })]),
    chunk({}, calls.length > 0 ? 'tool_calls' : 'stop'),
    data({ id: `c${count}`, object: 'chat.completion.chunk', created: 1, model, choices: [], usage }),
    'data: [DONE]\n\n',
  ].join('');
}

const whole = (model) => ({
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model,
  choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'ok' } }],
});

function responses(calls, model, count) {
  const event = (type, fields) => `event: ${type}\n${data({ type, ...fields })}`;
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
  const usage = { input_tokens: 1000, output_tokens: 10, total_tokens: 1010 };
  return [
    event('response.created', { response }),
    ...output.flatMap((item, output_index) => [
      event('response.output_item.added', { output_index, item }),
      event('response.output_item.done', { output_index, item }),
    ]),
    event('response.completed', { response: { ...response, status: 'completed', output, usage } }),
  ].join('');
}
