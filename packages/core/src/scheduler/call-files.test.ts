import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { schedulerOf } from '../../../../testing/scheduler-kit.js';
import type { Approver } from '../contract/call.js';
import { textOf } from '../contract/content.js';
import { directCall, type ToolCall } from '../contract/tool-call.js';
import { runCalls, type ScriptedCalls } from '../testing/run-calls.js';
import { tempWorkspace } from '../testing/temp-workspace.js';
import { BaseTool, defineTool } from '../tools/tools.js';

const anything = { type: 'object' } as const;
const never = new AbortController().signal;

/** A workspace and, beside it, a file outside. */
function world(files: Record<string, string> = {}) {
  const all = tempWorkspace({ 'outside.txt': 'outside', 'project/.keep': '', ...prefixed(files) });
  onTestFinished(() => all.remove());
  return { cwd: join(all.path, 'project'), outside: join(all.path, 'outside.txt') };
}

const prefixed = (files: Record<string, string>) =>
  Object.fromEntries(Object.entries(files).map(([name, text]) => [`project/${name}`, text]));

/** Runs one call of a tool whose code is `work`. */
async function run(
  work: (call: ToolCall, signal: AbortSignal) => Promise<string>,
  script: Omit<ScriptedCalls, 'tools' | 'calls'>,
  spec: { kind?: 'read' | 'other'; timeoutMs?: number } = {},
) {
  const tool = defineTool({
    name: 'worker',
    description: '',
    kind: 'read',
    parameterSchema: anything,
    ...spec,
    execute: (_params, signal, call) => work(call, signal),
  });
  const { outcomes, questions, events } = await runCalls({
    ...script,
    tools: [tool],
    calls: [{ id: 'a', name: 'worker' }],
  });
  const [outcome] = outcomes;
  return { outcome, text: textOf(outcome?.llmContent ?? ''), type: outcome?.error?.type, questions, events };
}

test('reads a file of the workspace unasked, by a relative path, whole and without its byte order mark', async () => {
  const long = `${'a line\n'.repeat(20_000)}end`;
  const { cwd } = world({ 'src/a.txt': `\ufeff${long}` });
  const { text, questions, events } = await run(
    async (call) => {
      const read = await call.readText('src/a.txt');
      return JSON.stringify([read === long, call.directory === cwd, await call.locate('src/../src/a.txt')]);
    },
    { cwd },
  );
  expect(JSON.parse(text)).toEqual([true, true, join(cwd, 'src/a.txt')]);
  expect(questions).toEqual([]);
  expect(events.flatMap((event) => (event.type === 'call-end' ? event.outcome.callId : []))).toEqual(['a']);
});

test.each(['readText', 'locate'] as const)('%s outside the workspace asks as read_file does', async (method) => {
  const { cwd, outside } = world();
  symlinkSync(outside, join(cwd, 'link'));
  const script = { cwd, answers: [{ outcome: 'once' as const }] };
  const { text, questions } = await run((call) => call[method]('link'), script);
  expect(text).toBe(method === 'locate' ? outside : 'outside');
  expect(questions).toMatchObject([
    { callId: 'a/1', tool: 'read_file', args: { absolute_path: join(cwd, 'link') }, isMidCall: true },
  ]);
  const declined = await run((call) => call[method](outside), { cwd });
  expect([declined.type, declined.questions.length]).toEqual(['execution_denied', 1]);
  const allowed = await run((call) => call[method](outside), { cwd, rules: { allow: [`read_file(/${outside})`] } });
  expect([allowed.outcome?.status, allowed.questions]).toEqual(['success', []]);
});

test('a rule against reading holds in every mode, through links and other spellings', async () => {
  const { cwd } = world({ 'secrets/k': 'key' });
  symlinkSync('secrets', join(cwd, 'harmless'));
  for (const path of ['secrets/k', './x/../secrets/k', 'harmless/k', `${cwd}//secrets/k`])
    for (const method of ['readText', 'locate'] as const) {
      const script = { cwd, mode: 'yolo', rules: { deny: ['read_file(secrets/**)'] } } as const;
      const { type, questions } = await run((call) => call[method](path), script);
      expect([path, type, questions]).toEqual([path, 'execution_denied', []]);
    }
});

test.each([
  ['', 'invalid_tool_params'],
  ['a\0b', 'invalid_tool_params'],
  ['\ud800', 'invalid_tool_params'],
  ['missing', 'file_not_found'],
  ['.', 'target_is_directory'],
  ['blob', 'read_content_failure'],
  ['hidden.txt', 'permission_denied'],
])('reading %j is refused with %s', async (path, type) => {
  const { cwd } = world({ blob: '\u0000\u0001\u0002', 'hidden.txt': 'x', '.latheignore': 'hidden.txt' });
  expect((await run((call) => call.readText(path), { cwd })).type).toBe(type);
});

test('writing puts the question of write_file, with the diff, and tells what it did', async () => {
  const { cwd } = world({ 'a.txt': 'old\n' });
  const work = async (call: ToolCall) => call.write('a.txt', (await call.readText('a.txt')).replace('old', 'new'));
  const { text, questions, events } = await run(work, { cwd, answers: [{ outcome: 'once' }] });
  expect(text).toBe(`Overwrote ${join(cwd, 'a.txt')}.`);
  expect(questions).toMatchObject([
    {
      tool: 'write_file',
      confirmation: {
        type: 'edit',
        warnings: ['The tool worker wants this.'],
        fileName: 'a.txt',
        fileDiff: expect.stringContaining('-old\n+new'),
      },
    },
  ]);
  expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('new\n');
  expect(events.flatMap((event) => (event.type === 'call-end' ? event.outcome.name : []))).toEqual([
    'write_file',
    'worker',
  ]);
});

test.each([
  ['nobody says yes', {}, 1],
  ['a rule denies the file', { rules: { deny: ['write_file(*.txt)'] }, mode: 'yolo' }, 0],
  ['a rule denies reading it', { rules: { deny: ['read_file(*.txt)'] }, mode: 'yolo' }, 0],
  ['plan mode is on', { mode: 'plan' }, 0],
  ['a rule asks in yolo mode', { rules: { ask: ['edit'], allow: [] }, mode: 'yolo' }, 1],
] as const)('nothing is written when %s', async (_why, script, asked) => {
  const { cwd } = world();
  const { type, questions } = await run((call) => call.write('new.txt', 'x'), { cwd, ...script });
  expect([type, questions.length]).toEqual(['execution_denied', asked]);
  expect(existsSync(join(cwd, 'new.txt'))).toBe(false);
});

test('auto-edit writes in the workspace unasked, and asks for a protected file and outside', async () => {
  const { cwd, outside } = world();
  const write = (path: string) => run((call) => call.write(path, 'x'), { cwd, mode: 'auto-edit' });
  expect((await write('new.txt')).outcome?.status).toBe('success');
  for (const path of ['.git/hooks/pre-commit', '.lathe/settings.json', `${outside}.new`])
    expect((await write(path)).questions).toHaveLength(1);
});

test('a file that the code has not read, or that changed since, is not replaced', async () => {
  const { cwd } = world({ 'a.txt': 'mine' });
  const blind = await run((call) => call.write('a.txt', 'x'), { cwd, mode: 'yolo' });
  expect([blind.type, blind.text]).toEqual([
    'edit_requires_prior_read',
    'a.txt exists: a tool reads it with readText before it replaces it.',
  ]);
  const late = await run(
    async (call) => {
      await call.readText('a.txt');
      writeFileSync(join(cwd, 'a.txt'), 'theirs');
      return call.write('a.txt', 'x');
    },
    { cwd, mode: 'yolo' },
  );
  expect(late.type).toBe('file_changed_since_read');
  expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('theirs');
});

test('writes of one call happen in the order of its code', async () => {
  const { cwd } = world();
  const work = async (call: ToolCall) => {
    const done = await Promise.all(['1', '2', '3', '4'].map((text) => call.write('n.txt', text)));
    return done.join('\n');
  };
  const { text } = await run(work, { cwd, mode: 'yolo' });
  const path = join(cwd, 'n.txt');
  expect(text).toBe([`Created ${path}.`, ...Array.from({ length: 3 }, () => `Overwrote ${path}.`)].join('\n'));
  expect(readFileSync(path, 'utf8')).toBe('4');
});

test('two calls that read, change and write one file lose no update', async () => {
  const { cwd } = world({ 'count.txt': '0' });
  const tool = defineTool({
    name: 'count',
    description: '',
    kind: 'read',
    parameterSchema: anything,
    async execute(_params, _signal, call) {
      const count = Number(await call.readText('count.txt'));
      await call.write('count.txt', `${count + 1}`);
      return 'counted';
    },
  });
  const calls = Array.from({ length: 8 }, () => ({ name: 'count' }));
  const { outcomes } = await runCalls({ tools: [tool], calls, cwd, mode: 'yolo' });
  const counted = outcomes.filter(({ status }) => status === 'success').length;
  expect(readFileSync(join(cwd, 'count.txt'), 'utf8')).toBe(`${counted}`);
  expect(new Set(outcomes.flatMap(({ error }) => error?.type ?? []))).toEqual(
    new Set(counted === 8 ? [] : ['file_changed_since_read']),
  );
});

test('a thousand files are read at once', async () => {
  const names = Array.from({ length: 1000 }, (_, index) => `${index}.txt`);
  const { cwd } = world(Object.fromEntries(names.map((name) => [name, name])));
  const work = async (call: ToolCall) => (await Promise.all(names.map((name) => call.readText(name)))).join();
  expect((await run(work, { cwd })).text).toBe(names.join());
});

test('a tool asks the person, who picks an option, writes an answer, or gives none', async () => {
  const { cwd } = world();
  const ask = (options?: string[]) => (call: ToolCall) =>
    call.ask('Where to?', options).then((answer) => JSON.stringify(answer));
  const answered = async (answers: ScriptedCalls['answers'], options?: string[]): Promise<unknown> =>
    JSON.parse((await run(ask(options), { cwd, answers: answers ?? [] })).text);
  expect(await answered([{ outcome: 'once', choice: '1' }], ['left', 'right'])).toEqual({
    status: 'answered',
    text: 'right',
  });
  expect(await answered([{ outcome: 'deny', message: 'home' }], ['left'])).toEqual({
    status: 'answered',
    text: 'home',
  });
  expect(await answered([{ outcome: 'once', choice: 'none such' }], ['left'])).toEqual({ status: 'declined' });
  expect(await answered([])).toEqual({ status: 'declined' });
  const { questions } = await run(ask(['left']), { cwd, mode: 'yolo' });
  expect(questions).toMatchObject([
    {
      callId: 'a/1',
      tool: 'worker',
      confirmation: {
        title: 'Worker asks',
        prompt: 'Where to?',
        isQuestion: true,
        choices: [{ id: '0', label: 'left' }],
      },
    },
  ]);
});

/** Runs `work` without files, answered by `approver`. */
async function runPlain(
  work: (call: ToolCall, signal: AbortSignal) => Promise<string>,
  approver: Approver,
  signal = never,
) {
  const tool = defineTool({
    name: 'plain',
    description: '',
    parameterSchema: anything,
    timeoutMs: 100,
    execute: (_params, own, call) => work(call, own),
  });
  const [outcome] = await schedulerOf([tool], { approver, graceMs: 10 }).scheduler.run([{ name: 'plain' }], signal);
  return outcome;
}

test('the time limit of a tool stops while a person thinks, and continues afterwards', async () => {
  const approver: Approver = {
    decide: async () => {
      await new Promise((resolve) => setTimeout(resolve, 300));
      return { outcome: 'deny', message: 'done' };
    },
  };
  const patient = await runPlain(async (call) => JSON.stringify(await call.ask('?')), approver);
  expect(patient?.llmContent).toBe('{"status":"answered","text":"done"}');
  const slow = await runPlain(async (call) => {
    await call.ask('?');
    return new Promise(() => {});
  }, approver);
  expect(slow?.error?.type).toBe('execution_timeout');
});

test('an abort ends a question that nobody answers', async () => {
  const controller = new AbortController();
  const seen: unknown[] = [];
  const approver: Approver = {
    decide: () => {
      queueMicrotask(() => controller.abort());
      return new Promise(() => {});
    },
  };
  const outcome = await runPlain(
    async (call) => {
      await call.ask('?').catch((error: Error) => seen.push(error.name));
      await call.ask('again').catch((error: Error) => seen.push(error.name));
      throw new Error('no answer');
    },
    approver,
    controller.signal,
  );
  expect([outcome?.status, seen]).toEqual(['cancelled', ['AbortError', 'AbortError']]);
});

test('code that a call left behind can do nothing more through it', async () => {
  const { cwd } = world({ 'a.txt': 'a' });
  let left: ToolCall = directCall();
  await run(
    async (call) => {
      left = call;
      return 'over';
    },
    { cwd, mode: 'yolo' },
  );
  const attempts = [left.write('b.txt', 'x'), left.readText('a.txt'), left.ask('?'), left.run([], never)];
  expect((await Promise.allSettled(attempts)).map(({ status }) => status)).toEqual(Array(4).fill('rejected'));
  expect(existsSync(join(cwd, 'b.txt'))).toBe(false);
});

test('a class can look at files for its question, and writes only after it', async () => {
  const { cwd } = world({ 'a.txt': 'what is there' });
  class Asking extends BaseTool<object> {
    constructor() {
      super({ name: 'asking', description: '', kind: 'execute', parameterSchema: anything });
    }
    override async shouldConfirmExecute(_params: object, _signal: AbortSignal, call: ToolCall) {
      const early = await call.write('b.txt', 'x').catch((error: Error) => error.message);
      return { type: 'info' as const, title: 'Go?', prompt: `${await call.readText('a.txt')}; ${early}` };
    }
    override async execute(_params: object, _signal: AbortSignal, call: ToolCall) {
      return call.write('b.txt', 'x');
    }
  }
  const answers = [{ outcome: 'once' as const }, { outcome: 'once' as const }];
  const { outcomes, questions } = await runCalls({ tools: [new Asking()], calls: [{ name: 'asking' }], cwd, answers });
  expect(outcomes[0]?.status).toBe('success');
  expect(
    questions.map(({ tool, confirmation }) => [tool, confirmation.type === 'info' && confirmation.prompt]),
  ).toEqual([
    ['asking', 'what is there; A tool writes in execute, after its call was approved'],
    ['write_file', false],
  ]);
});

test('without a workspace, files are a clear error', async () => {
  const outcome = await runPlain((call) => call.readText('a.txt'), { decide: async () => ({ outcome: 'once' }) });
  expect(outcome?.error?.message).toContain('give it a workspace with the option files');
});

test('code that does not wait for what it started leaves no error behind', async () => {
  const { cwd, outside } = world({ 'a.txt': 'a' });
  const work = async (call: ToolCall) => {
    void call.readText(outside);
    void call.write('a.txt', 'never read');
    void call.ask('?');
    void call.locate('missing/../../..');
    return 'gone';
  };
  const rejected: unknown[] = [];
  const onRejection = (reason: unknown) => rejected.push(reason);
  process.on('unhandledRejection', onRejection);
  const { text, events } = await run(work, { cwd, mode: 'yolo' });
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
  process.off('unhandledRejection', onRejection);
  expect([text, rejected, events.at(-1)?.type]).toEqual(['gone', [], 'call-end']);
  expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('a');
});
