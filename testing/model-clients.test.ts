import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { GoogleGenAI } from '@google/genai';
import { describe, expect, test } from 'vitest';
import { chooseModel, type ModelEvent } from '../packages/agent/src/models/index.js';
import { runProgram } from './lathe-program.js';
import { modelServer, type ServerTurn } from './model-server.js';
import { tempDirectory } from './temp-directory.js';

/** Installed by scripts/model-clients.mjs, which also runs this file. Otherwise only Google's client is asked. */
const cache = join(import.meta.dirname, '../bench/.work/model-clients');
const isInstalled = (name: string) =>
  process.env['LATHE_MODEL_CLIENTS'] !== undefined && existsSync(join(cache, 'node_modules', name));

const turn: ServerTurn = {
  text: 'Looking at both — déjà vu.',
  calls: [
    { id: 'call_1', name: 'ls', args: { path: '/a', depth: 1 } },
    { id: 'call_2', name: 'ls', args: { path: '/b' } },
  ],
  usage: { input: 120, output: 30, cached: 64 },
};
const tool = { name: 'ls', description: 'Lists.', parameters: { type: 'object', properties: {} } };

/** What a client made of an answer. */
interface Reading {
  text: string;
  calls: { name: string; args: unknown }[];
  input: number;
  output: number;
  cached: number;
}

async function ours(wire: 'chat' | 'responses' | 'messages' | 'gemini'): Promise<Reading> {
  const server = await modelServer([turn]);
  const settings = { name: 'm', wire, baseUrl: `${server.url}/v1` };
  const choice = await chooseModel({ env: {}, settings }, AbortSignal.timeout(20_000));
  if (choice.status === 'none') throw new Error(choice.setup.problem);
  const events: ModelEvent[] = [];
  const history = [{ role: 'user' as const, parts: [{ text: 'hi' }] }];
  const request = { system: '', history, tools: [{ name: 'ls', parametersJsonSchema: tool.parameters }] };
  for await (const event of choice.model.stream(request, AbortSignal.timeout(20_000))) events.push(event);
  const finish = events.at(-1);
  if (finish?.type !== 'finish') throw new Error('no finish');
  const { inputTokens: input, outputTokens: output, cachedInputTokens: cached } = finish.usage;
  return {
    text: events.map((event) => (event.type === 'text-delta' ? event.text : '')).join(''),
    calls: events.flatMap((event) => (event.type === 'call' ? [{ name: event.call.name, args: event.call.args }] : [])),
    input,
    output,
    cached,
  };
}

// The clients are not there when types are checked, so what they return is described here.
type Call = { name: string; arguments: string };
interface OpenAi {
  responses: {
    stream(body: object): {
      finalResponse(): Promise<{
        output_text: string;
        output: ({ type: 'function_call' } & Call)[];
        usage: { input_tokens: number; output_tokens: number; input_tokens_details: { cached_tokens: number } };
      }>;
    };
  };
  chat: {
    completions: {
      stream(body: object): {
        finalChatCompletion(): Promise<{
          choices: { message: { content: string; tool_calls: { function: Call }[] } }[];
          usage: { prompt_tokens: number; completion_tokens: number; prompt_tokens_details: { cached_tokens: number } };
        }>;
      };
    };
  };
}
interface Anthropic {
  messages: {
    stream(body: object): {
      finalMessage(): Promise<{
        content: { type: string; text?: string; name?: string; input?: unknown }[];
        usage: { input_tokens: number; output_tokens: number; cache_read_input_tokens: number };
      }>;
    };
  };
}

async function client<T>(name: string, options: object): Promise<T> {
  const file = createRequire(join(cache, 'package.json')).resolve(name);
  const { default: Client } = (await import(pathToFileURL(file).href)) as { default: new (options: object) => T };
  return new Client(options);
}

const parsed = ({ name, arguments: text }: Call) => ({ name, args: JSON.parse(text) as unknown });
const messages = [{ role: 'user', content: 'hi' }];

test('Google: @google/genai reads what we read', async () => {
  const server = await modelServer([turn]);
  const google = new GoogleGenAI({ apiKey: 'k', httpOptions: { baseUrl: server.url } });
  const stream = await google.models.generateContentStream({ model: 'm', contents: 'hi' });
  const reading: Reading = { text: '', calls: [], input: 0, output: 0, cached: 0 };
  for await (const { candidates, functionCalls = [], usageMetadata } of stream) {
    for (const { text } of candidates?.[0]?.content?.parts ?? []) reading.text += text ?? '';
    reading.calls.push(...functionCalls.map(({ name = '', args }) => ({ name, args })));
    reading.input = usageMetadata?.promptTokenCount ?? 0;
    reading.output = usageMetadata?.candidatesTokenCount ?? 0;
    reading.cached = usageMetadata?.cachedContentTokenCount ?? 0;
  }
  expect(reading).toEqual(await ours('gemini'));
});

describe.skipIf(!isInstalled('openai'))('openai', () => {
  const open = async () => client<OpenAi>('openai', { apiKey: 'k', baseURL: `${(await modelServer([turn])).url}/v1` });

  test('Responses: the official client reads what we read', async () => {
    const { responses } = await open();
    const tools = [{ type: 'function', ...tool, strict: false }];
    const {
      output_text: text,
      output,
      usage,
    } = await responses.stream({ model: 'm', input: 'hi', tools }).finalResponse();
    expect({
      text,
      calls: output.filter(({ type }) => type === 'function_call').map(parsed),
      input: usage.input_tokens,
      output: usage.output_tokens,
      cached: usage.input_tokens_details.cached_tokens,
    }).toEqual(await ours('responses'));
  });

  test('Chat Completions: the official client reads what we read', async () => {
    const { chat } = await open();
    const tools = [{ type: 'function', function: tool }];
    const body = { model: 'm', messages, tools, stream_options: { include_usage: true } };
    const { choices, usage } = await chat.completions.stream(body).finalChatCompletion();
    expect({
      text: choices[0]?.message.content,
      calls: choices[0]?.message.tool_calls.map((call) => parsed(call.function)),
      input: usage.prompt_tokens,
      output: usage.completion_tokens,
      cached: usage.prompt_tokens_details.cached_tokens,
    }).toEqual(await ours('chat'));
  });
});

test.skipIf(!isInstalled('@anthropic-ai/sdk'))('Anthropic: the official client reads what we read', async () => {
  const server = await modelServer([turn]);
  const anthropic = await client<Anthropic>('@anthropic-ai/sdk', { apiKey: 'k', baseURL: server.url });
  const { content, usage } = await anthropic.messages.stream({ model: 'm', max_tokens: 99, messages }).finalMessage();
  expect({
    text: content.map(({ text = '' }) => text).join(''),
    calls: content.filter(({ type }) => type === 'tool_use').map(({ name, input: args }) => ({ name, args })),
    input: usage.input_tokens + usage.cache_read_input_tokens,
    output: usage.output_tokens,
    cached: usage.cache_read_input_tokens,
  }).toEqual(await ours('messages'));
});

describe.skipIf(!isInstalled('ai-sdk-v4'))('providers of the AI SDK', () => {
  test.each(['v2', 'v3', 'v4'])(
    '@ai-sdk/openai-compatible of specification %s drives a whole task',
    async (version) => {
      const server = await modelServer([
        { text: 'I look.', calls: [{ name: 'glob', args: { pattern: '*.txt' } }] },
        { text: 'a.txt is there.' },
      ]);
      const model = { provider: `npm:ai-sdk-${version}`, name: 'm', apiKey: 'k', baseUrl: `${server.url}/v1` };
      const home = tempDirectory({ '.lathe/settings.json': JSON.stringify({ model }) });
      mkdirSync(join(home, '.lathe/packages'));
      symlinkSync(join(cache, 'node_modules'), join(home, '.lathe/packages/node_modules'));
      const cwd = tempDirectory({ 'a.txt': 'alpha\n' });
      const { code, stdout, stderr } = await runProgram(['-p', 'what is here?'], { cwd, home });
      expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: 'a.txt is there.\n', stderr: '' });
      expect(JSON.stringify(server.requests[1]?.body)).toContain('a.txt');
    },
  );

  test.each(['v2', 'v3', 'v4'])('what specification %s emits of broken streams never runs', async (version) => {
    const cwd = tempDirectory();
    const calls = [{ id: 'c', name: 'write_file', args: { file_path: join(cwd, 'made.txt'), content: 'x' } }];
    const whole = await modelServer([{ calls }]);
    await fetch(`${whole.url}/v1/chat/completions`, { method: 'POST', body: '{}' }).then((answer) => answer.text());
    const events = (whole.bodies[0] ?? '').split('\n\n').slice(0, -1);
    const end = events.findIndex((event) => event.includes('"finish_reason":"tool_calls"'));
    const bodies = [
      events.slice(0, end),
      events.slice(0, end - 2),
      events.map((event) => event.replace('"finish_reason":"tool_calls"', '"finish_reason":"length"')),
      events.with(end - 1, 'data: {"choices":[{"del'),
    ];
    for (const body of bodies) {
      const server = await modelServer([
        { fault: { kind: 'raw', body: `${body.join('\n\n')}\n\n` } },
        { text: 'nothing was made' },
      ]);
      const model = { provider: `npm:ai-sdk-${version}`, name: 'm', apiKey: 'k', baseUrl: `${server.url}/v1` };
      const home = tempDirectory({ '.lathe/settings.json': JSON.stringify({ model }) });
      mkdirSync(join(home, '.lathe/packages'));
      symlinkSync(join(cache, 'node_modules'), join(home, '.lathe/packages/node_modules'));
      const { stdout } = await runProgram(['-p', 'write', '--yolo'], { cwd, home });
      expect(stdout).toBe('nothing was made\n');
      expect(existsSync(join(cwd, 'made.txt'))).toBe(false);
    }
  });
});

test.skipIf(!isInstalled('@openai/codex'))('Codex works with our Responses server', async () => {
  const cwd = tempDirectory({ 'a.txt': 'alpha-from-the-file\n' });
  const server = await modelServer([
    ({ body }) => ({ reasoning: 'look', calls: [readWith(body['tools'], join(cwd, 'a.txt'))] }),
    { text: 'It says alpha.' },
  ]);
  const home = tempDirectory({ '.codex/config.toml': codexConfig(server.url) });
  const codex = join(cache, 'node_modules/@openai/codex/bin/codex.js');
  const args = ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', 'what is in a.txt?'];
  const child = spawn(process.execPath, [codex, ...args], {
    cwd,
    env: { PATH: process.env['PATH'] ?? '', HOME: home, STUB_KEY: 'k' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.on('data', (data: Buffer) => (output += String(data)));
  child.stderr.on('data', (data: Buffer) => (output += String(data)));
  const code = await new Promise((resolve) => child.on('close', resolve));
  expect(output).toContain('It says alpha.');
  expect(code).toBe(0);
  expect(JSON.stringify(server.requests.at(-1)?.body)).toContain('alpha-from-the-file');
});

function codexConfig(url: string): string {
  return `model = "stub"
model_provider = "stub"
check_for_update_on_startup = false
[model_providers.stub]
name = "stub"
base_url = "${url}/v1"
wire_api = "responses"
env_key = "STUB_KEY"
[analytics]
enabled = false
[features]
apps = false
plugins = false
`;
}

/** The call with which this version of Codex reads a file. */
function readWith(tools: unknown, path: string): { name: string; args: object } {
  const names = JSON.stringify(tools);
  if (names.includes('"exec_command"')) return { name: 'exec_command', args: { cmd: `cat ${path}` } };
  if (names.includes('"shell_command"')) return { name: 'shell_command', args: { command: `cat ${path}` } };
  return { name: 'shell', args: { command: ['cat', path] } };
}
