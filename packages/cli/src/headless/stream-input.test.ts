import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { bundleFile } from '../../../../testing/bundle.js';
import { buildProgram, modelVariables, runProgram } from '../../../../testing/lathe-program.js';
import { modelServer, type ServerScript } from '../../../../testing/model-server.js';
import { hasProgram } from '../../../../testing/programs.js';
import { tempDirectory } from '../../../../testing/temp-directory.js';

beforeAll(buildProgram, 300_000);

const program = join(import.meta.dirname, '../../dist/main.cjs');
const shell = (command: string) => ({ name: 'run_shell_command', args: { command } });

/** The parts of a message that the tests use. */
interface Message {
  type: string;
  subtype?: string;
  request_id: string;
  request: {
    subtype: string;
    tool_name: string;
    input: object;
    permission_suggestions: object[];
    choices?: object[];
    warnings?: string[];
  };
  response: { subtype: string; request_id: string; response?: object; error?: string };
  result?: string;
  message?: unknown;
}

/** `lathe -p --input-format stream-json`, driven line by line. */
async function driven(
  script: ServerScript,
  flags: string[] = [],
  { cwd = tempDirectory(), home = tempDirectory() } = {},
) {
  const model = await modelServer(script);
  const args = ['-p', '--input-format', 'stream-json', '-o', 'stream-json', ...flags];
  const env = { PATH: process.env['PATH'] ?? '', HOME: home, ...modelVariables('openai', model.url) };
  const child: ChildProcess = spawn(process.execPath, [program, ...args], { cwd, env });
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines = child.stdout ? createInterface(child.stdout)[Symbol.asyncIterator]() : expect.fail('no stdout');
  const seen: Message[] = [];
  const next = async (type: string): Promise<Message> => {
    for (;;) {
      const { done, value } = await lines.next();
      if (done) return expect.fail(`no ${type} among ${JSON.stringify(seen)}`);
      const message: Message = JSON.parse(value);
      seen.push(message);
      if (message.type === type) return message;
    }
  };
  const write = (text: string) => child.stdin?.write(`${text}\n`);
  const send = (message: object) => write(JSON.stringify(message));
  const control = async (request: object): Promise<Message['response']> => {
    send({ type: 'control_request', request_id: 'r', request });
    return (await next('control_response')).response;
  };
  const answer = ({ request_id }: Message, response: object) =>
    send({ type: 'control_response', response: { subtype: 'success', request_id, response } });
  const prompt = (content: unknown) => send({ type: 'user', message: { role: 'user', content } });
  const end = async () => {
    child.stdin?.end();
    if (child.exitCode === null) await once(child, 'exit');
    return child.exitCode;
  };
  return { cwd, home, model, seen, next, write, control, answer, prompt, end };
}

const initialize = { subtype: 'initialize' };

test('a program sends prompts, allows one call and denies another, and gets one result for each prompt', async () => {
  const script = [{ calls: [shell('touch a')] }, { text: 'one' }, { calls: [shell('touch b')] }, { text: 'two' }];
  const { cwd, control, prompt, next, answer, end, model } = await driven(script, ['--sandbox', 'off']);
  expect(await control(initialize)).toMatchObject({ subtype: 'success', request_id: 'r' });
  prompt('first');
  const first = await next('control_request');
  expect(first.request).toMatchObject({ subtype: 'can_use_tool', tool_name: 'run_shell_command' });
  answer(first, { behavior: 'allow', updatedInput: first.request.input });
  expect(await next('result')).toMatchObject({ subtype: 'success', result: 'one', permission_denials: [] });
  prompt([{ type: 'text', text: 'second' }]);
  answer(await next('control_request'), { behavior: 'deny', message: 'not on a Tuesday' });
  expect(await next('result')).toMatchObject({
    result: 'two',
    permission_denials: [{ tool_input: { command: 'touch b' } }],
  });
  expect(await end()).toBe(0);
  expect([existsSync(join(cwd, 'a')), existsSync(join(cwd, 'b'))]).toEqual([true, false]);
  expect(JSON.stringify(model.requests[3]?.body)).toContain('not on a Tuesday');
});

test('an answer saves a rule that it was shown, and no other', async () => {
  const calls = ['touch a', 'touch b', 'mkdir c'].map((command) => ({ calls: [shell(command)] }));
  const { cwd, control, prompt, next, answer, end } = await driven([...calls, { text: 'done' }], ['--sandbox', 'off']);
  await control(initialize);
  prompt('go');
  const first = await next('control_request');
  const [suggestion] = first.request.permission_suggestions;
  const rules = [{ toolName: 'run_shell_command', ruleContent: 'touch *' }];
  const exact = [{ toolName: 'run_shell_command', ruleContent: '=touch a' }];
  const offered = (names: object[], destination: string) => ({
    type: 'addRules',
    rules: names,
    behavior: 'allow',
    destination,
  });
  expect(first.request.permission_suggestions).toEqual([
    offered(rules, 'session'),
    offered(rules, 'projectSettings'),
    offered(rules, 'userSettings'),
    offered(exact, 'session'),
    offered(exact, 'projectSettings'),
  ]);
  const wider = { ...suggestion, rules: [{ toolName: 'run_shell_command' }] };
  const mode = { type: 'setMode', mode: 'bypassPermissions', destination: 'session' };
  answer(first, { behavior: 'allow', updatedPermissions: [wider, mode] });
  const second = await next('control_request');
  expect(second.request.input).toEqual({ command: 'touch b' });
  answer(second, { behavior: 'allow', updatedPermissions: [suggestion] });
  const third = await next('control_request');
  // What runs is what was asked about.
  answer(third, { behavior: 'allow', updatedInput: { command: 'touch d' } });
  await next('result');
  expect(await end()).toBe(0);
  expect(['a', 'b', 'c', 'd'].map((name) => existsSync(join(cwd, name)))).toEqual([true, true, false, false]);
});

test('an answer that saves the rule for one exact command allows no other', async () => {
  const calls = ['touch a', 'touch a', 'touch b'].map((command) => ({ calls: [shell(command)] }));
  const { control, prompt, next, answer, end } = await driven([...calls, { text: 'done' }], ['--sandbox', 'off']);
  await control(initialize);
  prompt('go');
  const first = await next('control_request');
  answer(first, { behavior: 'allow', updatedPermissions: [first.request.permission_suggestions[3]] });
  const second = await next('control_request');
  expect(second.request.input).toEqual({ command: 'touch b' });
  answer(second, { behavior: 'deny' });
  await next('result');
  expect(await end()).toBe(0);
});

test('an interrupt withdraws the question, ends the turn, and the next prompt works', async () => {
  const { control, prompt, next, answer, end, cwd } = await driven([{ calls: [shell('touch a')] }, { text: 'later' }]);
  await control(initialize);
  prompt('go');
  const asked = await next('control_request');
  expect(await control({ subtype: 'interrupt' })).toMatchObject({ subtype: 'success' });
  expect(await next('result')).toMatchObject({ is_error: true, error: { type: 'aborted' } });
  answer(asked, { behavior: 'allow' });
  prompt('go on');
  expect(await next('result')).toMatchObject({ result: 'later' });
  expect(await end()).toBe(0);
  expect(existsSync(join(cwd, 'a'))).toBe(false);
});

test('an answer may list the arguments in another order', async () => {
  const cwd = tempDirectory();
  const args = { file_path: join(cwd, 'a.txt'), content: 'made' };
  const script = [{ calls: [{ name: 'write_file', args }] }, { text: 'done' }];
  const { control, prompt, next, answer, end } = await driven(script, [], { cwd });
  await control(initialize);
  prompt('go');
  const updatedInput = { content: args.content, file_path: args.file_path };
  answer(await next('control_request'), { behavior: 'allow', updatedInput });
  await next('result');
  expect([await end(), readFileSync(args.file_path, 'utf8')]).toEqual([0, 'made']);
});

test('a question with choices names them, and an answer chooses one of them', async () => {
  const plan = { calls: [{ name: 'exit_plan_mode', args: { plan: 'do it' } }] };
  const path = join(tempDirectory(), 'a.txt');
  const edit = { calls: [{ name: 'write_file', args: { file_path: path, content: 'made' } }] };
  const script = [plan, plan, edit, { text: 'done' }];
  const options = { cwd: dirname(path) };
  const { control, prompt, next, answer, end, model } = await driven(script, ['--approval-mode', 'plan'], options);
  await control(initialize);
  prompt('go');
  const first = await next('control_request');
  expect(first.request.choices).toMatchObject([{ id: 'default' }, { id: 'auto-edit', label: expect.any(String) }]);
  answer(first, { behavior: 'allow', choice: 'yolo' });
  answer(await next('control_request'), { behavior: 'allow', choice: 'auto-edit' });
  await next('result');
  expect(JSON.stringify(model.requests[1]?.body)).toContain('not one of the choices');
  // The chosen mode applies, so no question about the edit follows.
  expect([await end(), existsSync(path)]).toEqual([0, true]);
});

test('a question comes with its warnings', async () => {
  const path = join(tempDirectory(), 'a.txt');
  const edit = { calls: [{ name: 'write_file', args: { file_path: path, content: 'hid\u202eden' } }] };
  const { control, prompt, next, answer, end } = await driven([edit, { text: 'done' }], [], { cwd: dirname(path) });
  await control(initialize);
  prompt('go');
  const asked = await next('control_request');
  expect(asked.request.warnings).toContainEqual(expect.stringContaining('invisible'));
  answer(asked, { behavior: 'deny' });
  await next('result');
  expect([await end(), existsSync(path)]).toEqual([0, false]);
});

test('an interrupt right after a prompt ends it, and none ends a later one', async () => {
  const { write, control, prompt, next, end, model } = await driven([{ text: 'done' }]);
  const interrupt = { subtype: 'interrupt' };
  await control(interrupt);
  const user = { type: 'user', message: { content: 'go' } };
  write([user, { type: 'control_request', request: interrupt }].map((each) => JSON.stringify(each)).join('\n'));
  expect(await next('result')).toMatchObject({ is_error: true, error: { type: 'aborted' } });
  expect(model.requests).toHaveLength(0);
  await control(interrupt);
  prompt('again');
  expect([(await next('result')).result, await end()]).toEqual(['done', 0]);
});

test('an interrupt while a mentioned resource is read ends only this prompt', async () => {
  const home = tempDirectory();
  const marker = join(home, 'asked');
  const server = `require('readline').createInterface(process.stdin).on('line', (line) => {
    const { id, method, params } = JSON.parse(line);
    const answers = {
      initialize: { protocolVersion: params?.protocolVersion, capabilities: { resources: {}, tools: {} }, serverInfo: { name: 's', version: '1' } },
      'tools/list': { tools: [] },
      'resources/list': { resources: [{ uri: 'x://a', name: 'a' }] },
    };
    if (method === 'resources/read') require('fs').writeFileSync(${JSON.stringify(marker)}, '');
    else if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result: answers[method] ?? {} }));
  });`;
  mkdirSync(join(home, '.lathe'));
  const mcpServers = { silent: { command: process.execPath, args: ['-e', server] } };
  writeFileSync(join(home, '.lathe/settings.json'), JSON.stringify({ mcpServers }));
  const { control, prompt, next, end } = await driven([{ text: 'done' }], [], { home });
  await control(initialize);
  prompt('what is @silent:x://a?');
  await expect.poll(() => existsSync(marker), { timeout: 20_000 }).toBe(true);
  await control({ subtype: 'interrupt' });
  expect(await next('result')).toMatchObject({ error: { type: 'aborted' } });
  prompt('again');
  expect([(await next('result')).result, await end()]).toEqual(['done', 0]);
});

test('a document may be plain text', async () => {
  const { prompt, next, end, model } = await driven([{ text: 'done' }]);
  prompt([{ type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'Plain words.' } }]);
  await next('result');
  expect([await end(), JSON.stringify(model.requests[0]?.body)]).toEqual([0, expect.stringContaining('Plain words.')]);
});

test('mode and model change in between, with the names of other agents', async () => {
  const script = [{ calls: [shell('touch a')] }, { text: 'done' }];
  const { control, prompt, next, end, cwd, model } = await driven(script, ['--sandbox', 'off']);
  await control(initialize);
  expect(await control({ subtype: 'set_permission_mode', mode: 'bypassPermissions' })).toMatchObject({
    response: { mode: 'yolo' },
  });
  expect(await control({ subtype: 'set_permission_mode', mode: 'everything' })).toMatchObject({
    subtype: 'error',
    error: expect.stringContaining('one of plan, default'),
  });
  expect(await control({ subtype: 'set_model', model: 'other' })).toMatchObject({ response: { model: 'other' } });
  prompt('go');
  await next('result');
  await end();
  expect([existsSync(join(cwd, 'a')), model.requests[0]?.body['model']]).toEqual([true, 'other']);
});

test('without initialize Lathe denies without a question, and the exit code says so', async () => {
  const { prompt, next, end, seen } = await driven([{ calls: [shell('touch a')] }, { text: 'I may not.' }]);
  prompt('go');
  await next('result');
  expect(await end()).toBe(3);
  expect(seen.map(({ type }) => type)).not.toContain('control_request');
});

test('a program that ends its input with a question open does not hang the turn', async () => {
  const { control, prompt, next, end, cwd } = await driven([{ calls: [shell('touch a')] }, { text: 'alone' }]);
  await control(initialize);
  prompt('go');
  await next('control_request');
  const ended = end();
  expect(await next('result')).toMatchObject({ result: 'alone' });
  expect([await ended, existsSync(join(cwd, 'a'))]).toEqual([3, false]);
});

test('a line that is not a message is named and ignored, and hooks of a program are not dropped in silence', async () => {
  const { write, control, prompt, next, end, seen } = await driven([{ text: 'fine' }]);
  const users = [{ content: [{ type: 'x' }] }, { content: ' \n' }, { content: [] }];
  const messages = users.map((message) => JSON.stringify({ type: 'user', message }));
  for (const line of ['no json', '[1]', '{"type":"user"}', ...messages, '']) write(line);
  expect(await control({ ...initialize, hooks: { PreToolUse: [{}] } })).toMatchObject({
    subtype: 'error',
    error: expect.stringContaining('hooks'),
  });
  expect(await control({ subtype: 'rename_session' })).toMatchObject({ subtype: 'error' });
  prompt('go');
  expect(await next('result')).toMatchObject({ result: 'fine' });
  expect(seen.filter(({ subtype }) => subtype === 'notice')).toHaveLength(6);
  expect(await end()).toBe(0);
});

test.each([
  [['-p', 'words', '--input-format', 'stream-json', '-o', 'stream-json']],
  [['-p', '', '--input-format', 'stream-json']],
  [['-p', '', '--input-format', 'xml', '-o', 'stream-json']],
])('%j is wrong usage', async (args) => {
  const { code, stderr } = await runProgram(args, { env: { OPENAI_API_KEY: 'sk-none-0123456789' } });
  expect([code, stderr]).toEqual([2, expect.stringContaining('--input-format')]);
});

const docs = join(import.meta.dirname, '../../../../docs');

test.each(['drive.py', 'drive.ts'])('docs/stream-json.md shows %s', (name) => {
  const source = readFileSync(join(docs, 'examples', name), 'utf8');
  expect(readFileSync(join(docs, 'stream-json.md'), 'utf8')).toContain(source);
});

test.skipIf(!hasProgram('python3')).each(['drive.py', 'drive.ts'])(
  'the driver %s of the docs has a program write a file, but not run a command',
  async (name) => {
    const [cwd, bin] = [tempDirectory(), tempDirectory()];
    const write = { name: 'write_file', args: { file_path: join(cwd, 'a.txt'), content: 'made\n' } };
    const model = await modelServer([{ calls: [write, shell('touch b')] }, { text: 'All done.' }]);
    writeFileSync(join(bin, 'lathe'), `#!/bin/sh\nexec ${process.execPath} ${program} "$@"\n`);
    chmodSync(join(bin, 'lathe'), 0o755);
    const file = join(bin, name.replace('.ts', '.mjs'));
    const source = join(docs, 'examples', name);
    await (name.endsWith('.ts') ? bundleFile(source, file) : copyFile(source, file));
    const env = { PATH: `${bin}:${process.env['PATH']}`, HOME: bin, ...modelVariables('openai', model.url) };
    const runner = name.endsWith('.ts') ? process.execPath : 'python3';
    const child = spawn(runner, [file, 'write a.txt'], { cwd, env });
    let printed = '';
    child.stdout.on('data', (data) => (printed += data));
    await once(child, 'close');
    expect([printed, readdirSync(cwd)]).toEqual(['All done.\n', ['a.txt']]);
  },
);
