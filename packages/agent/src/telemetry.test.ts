import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { textOf } from '@lathe/core';
import { beforeAll, expect, test } from 'vitest';
import { collect } from '../../../testing/agent-kit.js';
import { buildProgram, runProgram } from '../../../testing/lathe-program.js';
import { watchChunks } from '../../../testing/loaded-chunks.js';
import { tempDirectory } from '../../../testing/temp-directory.js';
import { webServer } from '../../../testing/web-server.js';
import { createAgentLathe } from './create-agent-lathe.js';
import type { ModelRequest } from './models/model.js';
import { ScriptedModel, type ScriptedTurn } from './models/replay/scripted.js';
import { openSession } from './open-session.js';

const never = new AbortController().signal;
const secret = 'canary-of-a-secret';

interface Sent {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  status: { code: number };
  attributes: { key: string; value: Record<string, unknown> }[];
}

interface Body {
  resourceSpans?: { resource: object; scopeSpans: { spans: Sent[] }[] }[];
  resourceMetrics?: { scopeMetrics: { metrics: { name: string; histogram: { dataPoints: DataPoint[] } }[] }[] }[];
}

interface DataPoint {
  count: string;
  sum: number;
  bucketCounts: string[];
  explicitBounds: number[];
  attributes: Sent['attributes'];
}

/** A collector on loopback that keeps what it is sent. */
async function collector() {
  const server = await webServer((_, response) => response.end('{}'));
  const bodies = () => server.requests.map(({ body }): Body => JSON.parse(body));
  const spans = () =>
    bodies().flatMap(({ resourceSpans = [] }) =>
      resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)),
    );
  const metrics = () =>
    bodies()
      .flatMap(({ resourceMetrics = [] }) => resourceMetrics)
      .at(-1)
      ?.scopeMetrics.flatMap((scope) => scope.metrics) ?? [];
  return { ...server, spans, metrics, text: () => server.requests.map(({ body }) => body).join('\n') };
}

const attribute = (span: Pick<Sent, 'attributes'>, key: string): unknown =>
  Object.values(span.attributes.find((each) => each.key === key)?.value ?? {})[0];

/** The spans as an indented tree of names and errors, siblings by name. */
function tree(spans: readonly Sent[], parent?: string, depth = 0): string[] {
  return spans
    .filter(({ parentSpanId }) => parentSpanId === parent)
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((span) => [
      `${'  '.repeat(depth)}${span.name}${span.status.code === 2 ? ` !${String(attribute(span, 'error.type'))}` : ''}`,
      ...tree(spans, span.spanId, depth + 1),
    ]);
}

const call = (name: string, args: Record<string, unknown>) => ({ name, args });

/** The agent asks a subagent, is denied a write, reads a file that is not there, and answers. */
function script(root: string): ScriptedModel {
  const step = ({ history }: ModelRequest): ScriptedTurn => {
    const opening = textOf(history[0]?.parts ?? []);
    const turn = history.filter(({ role }) => role === 'model').length;
    if (opening.includes('for the helper'))
      return turn === 0 ? { calls: [call('list_directory', { path: root })] } : { text: 'found' };
    if (turn > 0) return { text: `the key is ${secret} and sk-abcdefghijklmnopqrstuvwxyz` };
    return {
      calls: [
        call('task', { description: 'look', prompt: 'for the helper', subagent_type: 'general-purpose' }),
        call('write_file', { file_path: join(root, 'new'), content: secret }),
        call('read_file', { absolute_path: join(root, 'missing') }),
      ],
    };
  };
  return new ScriptedModel(Array.from({ length: 50 }, () => step));
}

async function work(settings: object, env: Record<string, string> = {}): Promise<{ ms: number; closeMs: number }> {
  const root = tempDirectory({ 'a.txt': 'alpha\n' });
  const home = tempDirectory({ '.lathe/settings.json': JSON.stringify(settings) });
  const lathe = await createAgentLathe({ cwd: root, env: { MY_TOKEN: secret, ...env }, home });
  const session = await openSession(lathe, { model: script(root) });
  const start = performance.now();
  await collect(session.prompt(`go on with ${secret}`, never));
  const ms = performance.now() - start;
  await session.close();
  const end = performance.now();
  await lathe.close();
  return { ms, closeMs: performance.now() - end };
}

test('a task is one trace: the agent, its requests, its calls and its subagent', async () => {
  const { url, spans, metrics, text, requests } = await collector();
  await work({ telemetry: { endpoint: url, headers: { 'x-team': 'tools' } } });
  expect(new Set(requests.map(({ path, headers }) => `${path} ${String(headers['x-team'])}`))).toEqual(
    new Set(['/v1/traces tools', '/v1/metrics tools']),
  );
  expect(tree(spans())).toEqual([
    'invoke_agent lathe',
    '  chat scripted',
    '  chat scripted',
    '  execute_tool read_file !file_not_found',
    '  execute_tool task',
    '    invoke_agent general-purpose',
    '      chat scripted',
    '      chat scripted',
    '      execute_tool list_directory',
    '  execute_tool write_file !execution_denied',
  ]);
  expect(new Set(spans().map(({ traceId }) => traceId)).size).toBe(1);
  const chat = spans().find(({ name }) => name === 'chat scripted');
  expect(
    chat &&
      ['gen_ai.operation.name', 'gen_ai.provider.name', 'gen_ai.usage.input_tokens'].map((key) => attribute(chat, key)),
  ).toEqual(['chat', 'scripted', expect.stringMatching(/^\d+$/)]);
  const sessions = new Set(spans().map((span) => attribute(span, 'gen_ai.conversation.id')));
  expect([...sessions]).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/)]);
  expect(
    metrics()
      .map(({ name }) => name)
      .sort(),
  ).toEqual(['gen_ai.client.operation.duration', 'gen_ai.client.token.usage']);
  for (const { histogram } of metrics())
    for (const { count, bucketCounts, explicitBounds } of histogram.dataPoints) {
      expect(bucketCounts).toHaveLength(explicitBounds.length + 1);
      expect(bucketCounts.reduce((sum, each) => sum + Number(each), 0)).toBe(Number(count));
    }
  // Nothing that was said, read or written.
  expect(text()).not.toMatch(/for the helper|a\.txt|canary|the key is|go on with/);
});

test('content is sent only when it is asked for, and redacted', async () => {
  const { url, spans, text } = await collector();
  await work({ telemetry: { endpoint: url, content: true } });
  const task = spans().find(({ name }) => name === 'execute_tool task');
  expect(task && String(attribute(task, 'gen_ai.tool.call.arguments'))).toContain('for the helper');
  expect(text()).toContain('the key is [redacted] and [redacted]');
  expect(text()).not.toMatch(/canary-of|sk-abc/);
});

test('the endpoint comes from the person: never from a project', async () => {
  const { url, requests } = await collector();
  const root = tempDirectory({
    '.lathe/settings.json': JSON.stringify({ telemetry: { endpoint: url, content: true } }),
    '.env': `OTEL_EXPORTER_OTLP_ENDPOINT=${url}\nOTEL_EXPORTER_OTLP_HEADERS=a=b\n`,
  });
  const lathe = await createAgentLathe({ cwd: root, env: {}, home: tempDirectory(), isTrusted: true });
  expect([lathe.tracer, lathe.settings.telemetry, lathe.loaded.env['OTEL_EXPORTER_OTLP_HEADERS']]).toEqual([
    undefined,
    { headers: {}, content: false },
    undefined,
  ]);
  await lathe.close();
  await work({}, { OTEL_EXPORTER_OTLP_ENDPOINT: url });
  expect(requests.length).toBeGreaterThan(0);
});

test('a collector that is gone or does not answer delays neither the work nor the end', async () => {
  const silent = await webServer(() => {});
  const plain = await work({});
  for (const endpoint of ['http://127.0.0.1:9', silent.url]) {
    const { ms, closeMs } = await work({ telemetry: { endpoint } });
    expect(ms).toBeLessThan(plain.ms * 5 + 500);
    // The limit is one second; the rest is for a busy machine.
    expect(closeMs).toBeLessThan(plain.closeMs + 3_000);
  }
  expect(silent.requests.length).toBeGreaterThan(0);
});

test('an MCP server learns which span its work belongs to', async () => {
  const { url, spans } = await collector();
  const server = join(tempDirectory(), 'server.mjs');
  writeFileSync(server, echoServer);
  const root = tempDirectory();
  const settings = {
    telemetry: { endpoint: url },
    mcpServers: { echo: { command: process.execPath, args: [server], trust: true } },
  };
  const home = tempDirectory({ '.lathe/settings.json': JSON.stringify(settings) });
  const lathe = await createAgentLathe({
    cwd: root,
    env: { PATH: process.env['PATH'] },
    home,
    flags: { 'tools.approvalMode': 'yolo' },
  });
  await lathe.discover(never);
  const [outcome] = await lathe.run([{ name: 'echo__meta', args: {} }], never);
  await lathe.close();
  const [span] = spans();
  expect(outcome?.llmContent).toBe(JSON.stringify({ traceparent: `00-${span?.traceId}-${span?.spanId}-01` }));
});

/** Answers each call with the `_meta` it came with. */
const echoServer = `
import { createInterface } from 'node:readline';
const answer = (id, result) => console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize')
    answer(id, { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'echo', version: '1' } });
  else if (method === 'tools/list') answer(id, { tools: [{ name: 'meta', inputSchema: { type: 'object' } }] });
  else if (method === 'tools/call') {
    const { traceparent } = params._meta ?? {};
    answer(id, { content: [{ type: 'text', text: JSON.stringify({ traceparent }) }] });
  } else if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: 'no' } }));
});
`;

beforeAll(buildProgram, 300_000);

test('nothing of it is loaded when it is off', { timeout: 60_000 }, async () => {
  const { url } = await collector();
  const loaded = async (variables: Record<string, string>) => {
    const { env, files } = watchChunks();
    const cwd = tempDirectory();
    const args = ['call', 'list_directory', JSON.stringify({ path: cwd })];
    expect((await runProgram(args, { cwd, env: { ...env, ...variables } })).code).toBe(0);
    return files().filter((file) => /otlp|trace-calls|agent-trace|telemetry/.test(file)).length;
  };
  expect(await loaded({})).toBe(0);
  expect(await loaded({ OTEL_EXPORTER_OTLP_ENDPOINT: url })).toBeGreaterThanOrEqual(3);
});
