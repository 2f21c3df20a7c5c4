import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Readable, Transform, Writable } from 'node:stream';
import {
  type ClientCapabilities,
  type ClientConnection,
  type CreateElicitationRequest,
  type CreateElicitationResponse,
  client,
  type InitializeResponse,
  type McpServer,
  methods,
  ndJsonStream,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionNotification,
  type SessionUpdate,
} from '@agentclientprotocol/sdk';
import { expect, onTestFinished } from 'vitest';
import { describeMismatch } from '../packages/core/src/entry-host.js';
import { modelVariables } from './lathe-program.js';
import { modelServer, type ServerScript } from './model-server.js';
import { tempDirectory } from './temp-directory.js';

const program = join(import.meta.dirname, '../packages/cli/dist/main.cjs');

export interface EditorOptions {
  script?: ServerScript;
  cwd?: string;
  home?: string;
  args?: string[];
  env?: Record<string, string>;
  capabilities?: ClientCapabilities;
  /** Open files with their text, or with what an editor sends instead of it. */
  buffers?: Map<string, unknown>;
  /** The answer to each question: the beginning of an option's name, `never`, or what the editor sends as it is. */
  answer?: (request: RequestPermissionRequest) => unknown;
  elicit?: (request: CreateElicitationRequest) => CreateElicitationResponse;
}

type Update<T extends SessionUpdate['sessionUpdate']> = Extract<SessionUpdate, { sessionUpdate: T }>;

/** An editor, made of the client side of the SDK, and the real `lathe acp` with a scripted model. */
export async function editor(options: EditorOptions = {}) {
  const server = await modelServer(options.script ?? [{ text: 'Hello.' }]);
  const home = options.home ?? tempDirectory();
  const cwd = options.cwd ?? tempDirectory();
  const env = { PATH: process.env['PATH'] ?? '', HOME: home, ...modelVariables('openai', server.url), ...options.env };
  const child = spawn(process.execPath, [program, ...(options.args ?? []), 'acp'], { cwd: home, env });
  onTestFinished(() => void child.kill('SIGKILL'));
  const output = { stderr: '', lines: [] as string[] };
  const sent: string[] = [];
  child.stderr.on('data', (data) => (output.stderr += String(data)));
  const exited = new Promise<number | null>((resolve) => child.on('close', resolve));
  const updates: SessionNotification[] = [];
  const questions: RequestPermissionRequest[] = [];
  const forms: CreateElicitationRequest[] = [];
  const reads: string[] = [];
  const watched = child.stdout.pipe(lineWatcher((line) => output.lines.push(line)));
  const input = lineWatcher((line) => sent.push(line));
  input.pipe(child.stdin);
  const stream = ndJsonStream(Writable.toWeb(input), Readable.toWeb(watched) as ReadableStream<Uint8Array>);
  const connection: ClientConnection = client({ name: 'test editor' })
    .onNotification(methods.client.session.update, ({ params }) => void updates.push(params))
    .onRequest(methods.client.session.requestPermission, async ({ params }) => {
      questions.push(params);
      return selected(params, (await options.answer?.(params)) ?? 'Yes,');
    })
    .onRequest(methods.client.elicitation.create, ({ params }) => {
      forms.push(params);
      return options.elicit?.(params) ?? { action: 'decline' };
    })
    .onRequest(methods.client.fs.readTextFile, ({ params }) => {
      reads.push(params.path);
      return { content: (options.buffers?.get(params.path) as string) ?? readFileSync(params.path, 'utf8') };
    })
    .onRequest(methods.client.fs.writeTextFile, ({ params }) => {
      options.buffers?.set(params.path, params.content);
      return {};
    })
    .connect(stream);
  const { agent } = connection;
  const fs = { readTextFile: options.buffers !== undefined, writeTextFile: options.buffers !== undefined };
  const capabilities = { fs, ...options.capabilities };
  const initialized = await agent.request<InitializeResponse>(methods.agent.initialize, {
    protocolVersion: 1,
    clientCapabilities: capabilities,
  });
  const textOf = (kind: 'agent_message_chunk' | 'user_message_chunk' | 'agent_thought_chunk', from = 0) =>
    updates
      .slice(from)
      .map(({ update }) => (update.sessionUpdate === kind && update.content.type === 'text' ? update.content.text : ''))
      .join('');
  return {
    server,
    home,
    cwd,
    child,
    agent,
    connection,
    exited,
    output,
    initialized,
    updates,
    questions,
    forms,
    reads,
    textOf,
    of: <T extends SessionUpdate['sessionUpdate']>(kind: T) =>
      updates.flatMap(({ update }) => (update.sessionUpdate === kind ? [update as Update<T>] : [])),
    open: (mcpServers: McpServer[] = []) => agent.request(methods.agent.session.new, { cwd, mcpServers }),
    prompt: (sessionId: string, text: string) =>
      agent.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: 'text', text }] }),
    cancel: (sessionId: string) => agent.notify(methods.agent.session.cancel, { sessionId }),
    /** The end of the conversation that the model got with a request. */
    heard: (request: number): string => {
      const { messages } = server.requests[request]?.body ?? {};
      return JSON.stringify(Array.isArray(messages) ? messages.slice(-2) : []);
    },
    /** All lines that the agent printed are messages of the protocol: requests, notifications, results and errors. */
    assertConformance: () => expect(mismatches(output.lines, sent)).toEqual([]),
    /** As an editor that is closed. */
    leave: () => {
      child.stdin.end();
      return exited;
    },
  };
}

async function selected({ options }: RequestPermissionRequest, wanted: unknown): Promise<RequestPermissionResponse> {
  if (wanted === 'never') return new Promise(() => {});
  if (typeof wanted !== 'string') return wanted as RequestPermissionResponse;
  const option = options.find(({ name }) => name.startsWith(wanted));
  if (!option) throw new Error(`no option ${wanted} among ${options.map(({ name }) => name).join(', ')}`);
  return { outcome: { outcome: 'selected', optionId: option.optionId } };
}

function lineWatcher(onLine: (line: string) => void): Transform {
  let rest = '';
  return new Transform({
    transform(chunk: Buffer, _, done) {
      const lines = (rest + chunk.toString('latin1')).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) onLine(Buffer.from(line, 'latin1').toString());
      done(null, chunk);
    },
  });
}

interface Definition {
  'x-method'?: string;
  'x-side'?: string;
  [key: string]: unknown;
}

const schemaFile = createRequire(import.meta.url).resolve('@agentclientprotocol/sdk/schema/v1/schema.json');
const { $defs } = JSON.parse(readFileSync(schemaFile, 'utf8')) as { $defs: Record<string, Definition> };
const cache = new Map<string, { [key: string]: unknown }>();

/** The schema of what travels with a method: its parameters, or its result. */
function schemaOf(method: string, what: 'Request' | 'Notification' | 'Response') {
  const name = Object.keys($defs).find((each) => $defs[each]?.['x-method'] === method && each.endsWith(what));
  if (name === undefined) return undefined;
  const schema = cache.get(name) ?? { $ref: `#/$defs/${name}`, $defs };
  cache.set(name, schema);
  return schema;
}

interface WireMessage {
  jsonrpc: string;
  id?: number | string | null;
  method?: string;
  params?: unknown;
  result?: unknown;
  error?: { code: number; message: string };
}

/** What of these lines the published schema does not allow, as messages of their own and as answers to those that were sent. */
export function mismatches(lines: readonly string[], sent: readonly string[]): string[] {
  const requests = sent.map((line) => JSON.parse(line) as WireMessage).filter(({ method }) => method !== undefined);
  const asked = new Map(requests.map(({ id, method = '' }) => [id, method]));
  return lines.flatMap((line) => {
    const message = JSON.parse(line) as WireMessage;
    const problem = message.method === undefined ? answerMismatch(message, asked) : messageMismatch(message);
    return message.jsonrpc === '2.0' && problem === null ? [] : [`${problem ?? 'no JSON-RPC'}: ${line.slice(0, 300)}`];
  });
}

function messageMismatch({ id, method = '', params }: WireMessage): string | null {
  if (method.startsWith('$/')) return null;
  const schema = schemaOf(method, id === undefined ? 'Notification' : 'Request');
  return schema ? describeMismatch(schema, params) : `unknown method ${method}`;
}

function answerMismatch({ id, result, error }: WireMessage, asked: ReadonlyMap<WireMessage['id'], string>) {
  const method = asked.get(id);
  if (method === undefined) return 'an answer to no request';
  return error ? describeMismatch({ $ref: '#/$defs/Error', $defs }, error) : resultMismatch(method, result);
}

function resultMismatch(method: string, result: unknown): string | null {
  const schema = schemaOf(method, 'Response');
  return schema ? describeMismatch(schema, result) : `no result of ${method}`;
}
