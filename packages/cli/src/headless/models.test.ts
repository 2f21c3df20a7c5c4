import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { buildProgram, runProgram } from '../../../../testing/lathe-program.js';
import { chunksWith, watchChunks } from '../../../../testing/loaded-chunks.js';
import { modelServer, type ServerScript } from '../../../../testing/model-server.js';
import { tempDirectory } from '../../../../testing/temp-directory.js';

beforeAll(buildProgram, 300_000);

function homeWith(settings: object): string {
  return tempDirectory({ '.lathe/settings.json': JSON.stringify(settings) });
}

async function ask(script: ServerScript, model: object, args: string[]) {
  const server = await modelServer(script);
  const cwd = tempDirectory({ 'a.txt': 'alpha\n' });
  const settings = { model: { name: 'gpt-5.4', baseUrl: `${server.url}/v1`, ...model } };
  const result = await runProgram(['-p', 'go', ...args], { cwd, home: homeWith(settings) });
  const lines = result.stdout.trimEnd().split('\n');
  return { server, ...result, last: () => JSON.parse(lines.at(-1) ?? '') as object, lines };
}

test('a whole task over Responses, with effort and with reasoning sent back before its call', async () => {
  const script: ServerScript = [
    { reasoning: 'look first', calls: [{ id: 'c1', name: 'glob', args: { pattern: '*.txt' } }] },
    { text: 'a.txt is there.' },
  ];
  const { code, stdout, server } = await ask(script, { wire: 'responses' }, ['--effort', 'high']);
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'a.txt is there.\n' });
  expect(server.requests.map(({ path }) => path)).toEqual(['/v1/responses', '/v1/responses']);
  const { input, reasoning, store } = (server.requests[1]?.body ?? {}) as {
    input: { type: string }[];
    [key: string]: unknown;
  };
  expect({ reasoning, store }).toEqual({ reasoning: { effort: 'high', summary: 'auto' }, store: false });
  expect(input.map(({ type }) => type)).toEqual(['message', 'reasoning', 'function_call', 'function_call_output']);
});

test('a fallback is reported in stream-json, and the session stays with it', async () => {
  const script: ServerScript = [
    { fault: { kind: 'status', status: 402, body: '{"error":{"message":"no credit"}}' } },
    { calls: [{ name: 'glob', args: { pattern: '*.txt' } }] },
    { text: 'done' },
  ];
  const { code, lines, server } = await ask(script, { fallbacks: ['other'] }, ['-o', 'stream-json']);
  expect(code).toBe(0);
  expect(server.requests.map(({ body }) => body['model'])).toEqual(['gpt-5.4', 'other', 'other']);
  const messages = lines.map((line) => JSON.parse(line) as { type: string; subtype?: string; message?: unknown });
  const answers = messages.filter(({ type }) => type === 'assistant');
  expect(answers.map(({ message }) => Object(message).model)).toEqual(['other', 'other']);
  const notices = messages.filter(({ subtype }) => subtype === 'notice');
  expect(notices.map(({ message }) => message)).toEqual([expect.stringMatching(/no credit.*Going on with other\./)]);
});

test('a limit of cost asks no fallback without a price', async () => {
  const script: ServerScript = [{ fault: { kind: 'status', status: 402 } }, { text: 'hi' }];
  const prices = { 'gpt-5.4': { input: 100, output: 1000 } };
  const { code, server, stderr } = await ask(script, { fallbacks: ['other'], prices, maxSessionCents: 500 }, []);
  expect({ code, asked: server.requests.length }).toEqual({ code: 1, asked: 1 });
  expect(stderr).toMatch(/no credit or quota.*other cannot be used: .*model\.prices/);
});

test('cost is reported as far as it is known, and a limit of cost needs a price', async () => {
  const usage = { input: 1_000_000, output: 100_000, cached: 400_000 };
  const prices = { 'gpt-5.4': { input: 100, output: 1000, cachedInput: 10 } };
  const priced = await ask([{ text: 'hi', usage }], { prices }, ['-o', 'json']);
  expect((JSON.parse(priced.stdout) as object[]).at(-1)).toMatchObject({ total_cost_usd: 1.64 });
  const unknown = await ask([{ text: 'hi', usage }], {}, ['-o', 'stream-json']);
  expect(unknown.last()).toMatchObject({ subtype: 'success', total_cost_usd: null });
  const limited = await ask([{ text: 'hi', usage }], { maxSessionCents: 5 }, []);
  expect({ code: limited.code, asked: limited.server.requests.length }).toEqual({ code: 1, asked: 0 });
  expect(limited.stderr).toContain('model.prices');
});

test('prices are loaded after the first answer of a model that has some, the adapter only for packages', async () => {
  const [prices, adapter] = [chunksWith('pydantic/genai-prices'), chunksWith('; Lathe knows ')];
  expect([prices.length, adapter.length]).toEqual([1, 1]);
  const { env, isLoaded } = watchChunks();
  const loaded = () => [...prices, ...adapter].filter(isLoaded);
  const atRequest: string[][] = [];
  const server = await modelServer([() => (atRequest.push(loaded()), { text: 'hi' })]);
  const settings = { provider: 'openai', name: 'gpt-5', apiKey: 'k', baseUrl: `${server.url}/v1` };
  const { stdout } = await runProgram(['-p', 'go', '-o', 'json'], { home: homeWith({ model: settings }), env });
  expect(atRequest).toEqual([[]]);
  expect(loaded()).toEqual(prices);
  expect((JSON.parse(stdout) as { total_cost_usd?: number }[]).at(-1)?.total_cost_usd).toBeGreaterThan(0);
});

/** A provider of the AI SDK, made by hand: it looks for files, then says what it was given. */
const provider = (version: string) => `
export const createScripted = (options) => ({
  languageModel: (modelId) => ({
    specificationVersion: '${version}', provider: 'scripted-package', modelId, supportedUrls: {},
    async doStream({ prompt, tools }) {
      const result = prompt.at(-1).role === 'tool' ? prompt.at(-1).content[0].output.value : undefined;
      const reason = result === undefined ? 'tool-calls' : 'stop';
      const parts = result === undefined
        ? [{ type: 'tool-call', toolCallId: 'c', toolName: 'glob', input: '{"pattern":"*.txt"}' }]
        : [{ type: 'text-delta', id: 't', delta: options.apiKey + ' ' + result.includes('a.txt') + ' ' + tools.length }];
      const usage = '${version}' === 'v2' ? { inputTokens: 5, outputTokens: 2 }
        : { inputTokens: { total: 5 }, outputTokens: { total: 2 } };
      const finish = { type: 'finish', usage, finishReason: '${version}' === 'v2' ? reason : { unified: reason } };
      return { stream: new ReadableStream({ start(c) { for (const p of [...parts, finish]) c.enqueue(p); c.close(); } }) };
    },
  }),
});`;

function install(folder: string, version: string, code = provider(version)): void {
  const place = join(folder, 'node_modules/scripted-package');
  mkdirSync(place, { recursive: true });
  const manifest = { name: 'scripted-package', type: 'module', exports: { '.': { import: './index.js' } } };
  writeFileSync(join(place, 'package.json'), JSON.stringify(manifest));
  writeFileSync(join(place, 'index.js'), code);
}

const model = { provider: 'npm:scripted-package', name: 'm', apiKey: 'key-1' };

test.each(['v2', 'v3', 'v4'])('a package with a model of specification %s drives a whole task', async (version) => {
  const home = homeWith({ model });
  install(join(home, '.lathe/packages'), version);
  const cwd = tempDirectory({ 'a.txt': 'alpha\n' });
  const { code, stdout, stderr } = await runProgram(['-p', 'go'], { cwd, home });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/^key-1 true \d+\n$/);
});

test('a package of the project is never loaded, and a missing one is named with the command to install it', async () => {
  const cwd = tempDirectory({ '.lathe/settings.json': JSON.stringify({ model }) });
  const proof = join(cwd, 'loaded');
  install(cwd, 'v4', `import { writeFileSync } from 'node:fs'; writeFileSync(${JSON.stringify(proof)}, 'x');`);
  const named = await runProgram(['-p', 'go', '--trust'], { cwd, home: homeWith({ model }) });
  expect(named.code).toBe(1);
  expect(named.stderr).toMatch(/npm install --prefix \S+packages scripted-package/);
  await runProgram(['-p', 'go', '--trust'], { cwd, home: tempDirectory() });
  expect(existsSync(proof)).toBe(false);
});
