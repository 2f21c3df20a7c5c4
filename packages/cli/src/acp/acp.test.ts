import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { methods, type SessionConfigOption } from '@agentclientprotocol/sdk';
import { beforeAll, expect, test, vi } from 'vitest';
import { editor } from '../../../../testing/acp-editor.js';
import { buildProgram } from '../../../../testing/lathe-program.js';
import { processesWith, uniqueSleep } from '../../../../testing/processes.js';
import { canSeeProcesses } from '../../../../testing/running.js';
import { tempDirectory } from '../../../../testing/temp-directory.js';

vi.setConfig({ testTimeout: 120_000 });
beforeAll(buildProgram, 300_000);

const { session } = methods.agent;
const shell = (command: string, id = 'c1') => ({ id, name: 'run_shell_command', args: { command } });
const edit = (path: string, old_string: string, new_string: string, id = 'c1') => ({
  id,
  name: 'edit',
  args: { file_path: path, old_string, new_string },
});

test('a whole task: a question with all answers, a diff, usage, an answer', async () => {
  const cwd = tempDirectory({ 'a.txt': 'one\ntwo\n' });
  const path = join(cwd, 'a.txt');
  const calls = [edit(path, 'two', '2')];
  const at = await editor({ cwd, script: [{ reasoning: 'hm', text: 'I edit.', calls }, { text: 'Done.' }] });
  expect(at.initialized.agentInfo).toMatchObject({ name: 'lathe' });
  const opened = await at.open();
  expect(opened.modes).toMatchObject({ currentModeId: 'default' });

  const answer = await at.prompt(opened.sessionId, 'edit it');
  expect(answer).toEqual({ stopReason: 'end_turn' });
  expect(readFileSync(path, 'utf8')).toBe('one\n2\n');
  expect([at.textOf('agent_thought_chunk'), at.textOf('agent_message_chunk')]).toEqual(['hm', 'I edit.Done.']);
  const diff = { type: 'diff', path, oldText: 'one\ntwo\n', newText: 'one\n2\n' };
  const [question] = at.questions;
  expect(question?.toolCall).toMatchObject({
    toolCallId: 'c1',
    kind: 'edit',
    locations: [{ path }],
    content: [diff, {}],
  });
  expect(JSON.stringify(question?.toolCall.content)).toContain('asked because no rule allows it');
  expect(question?.options.map(({ name, kind }) => [name, kind])).toEqual([
    ['Yes, once', 'allow_once'],
    ['Always in this session: edits in this folder', 'allow_always'],
    ['Always in this project: edits in this folder', 'allow_always'],
    ['Always for me: edits in any project', 'allow_always'],
    ['No', 'reject_once'],
  ]);
  expect(at.of('tool_call')).toMatchObject([{ toolCallId: 'c1', status: 'pending' }]);
  expect(at.of('tool_call_update').at(-1)).toMatchObject({ toolCallId: 'c1', status: 'completed', content: [diff] });
  expect(at.of('usage_update').at(-1)).toMatchObject({ used: expect.any(Number), size: expect.any(Number) });
  at.assertConformance();
  expect(await at.leave()).toBe(0);
});

test('a no reaches the model, and "always in this session" asks no second time', async () => {
  const cwd = tempDirectory({ 'a.txt': 'one\n', 'b.txt': 'one\n' });
  const [a, b] = [join(cwd, 'a.txt'), join(cwd, 'b.txt')];
  const at = await editor({
    cwd,
    answer: () => ['No', 'Always in this session'][at.questions.length - 1] ?? 'never',
    script: [
      { calls: [edit(a, 'one', '1')] },
      { calls: [edit(a, 'one', '2', 'c2'), edit(b, 'one', '3', 'c3')] },
      { text: 'Done.' },
    ],
  });
  const { sessionId } = await at.open();
  expect(await at.prompt(sessionId, 'go')).toEqual({ stopReason: 'end_turn' });
  expect([readFileSync(a, 'utf8'), readFileSync(b, 'utf8')]).toEqual(['2\n', '3\n']);
  expect(at.questions).toHaveLength(2);
  expect(at.heard(1)).toMatch(/The user did not allow this call/);
  at.assertConformance();
});

test.skipIf(!canSeeProcesses)(
  'cancel ends a command, a question that nobody answers, and a model that hangs; the session continues',
  async () => {
    const seconds = uniqueSleep();
    const cwd = tempDirectory();
    const at = await editor({
      cwd,
      answer: ({ toolCall }) => (toolCall.kind === 'execute' ? 'Yes, once' : 'never'),
      script: [
        { calls: [shell(`echo started; sleep ${seconds}`)] },
        { calls: [{ id: 'w1', name: 'write_file', args: { file_path: join(cwd, 'made'), content: '' } }] },
        { text: 'never shown', fault: { kind: 'stall', afterBytes: 0 } },
        { text: 'Still here.' },
      ],
    });
    const { sessionId } = await at.open();
    const cancelled = async (text: string, isReady: () => boolean) => {
      const answer = at.prompt(sessionId, text);
      await expect.poll(isReady, { timeout: 20_000 }).toBe(true);
      await at.cancel(sessionId);
      expect(await answer).toEqual({ stopReason: 'cancelled' });
    };
    await cancelled('run it', () => JSON.stringify(at.of('tool_call_update')).includes('started'));
    expect(processesWith(`sleep\0${seconds}`)).toEqual([]);
    await cancelled('ask me', () => at.questions.some(({ toolCall }) => toolCall.kind === 'edit'));
    await cancelled('hang', () => at.server.requests.length === 3);
    expect(existsSync(join(cwd, 'made'))).toBe(false);
    expect(await at.prompt(sessionId, 'are you there?')).toEqual({ stopReason: 'end_turn' });
    expect(at.textOf('agent_message_chunk')).toContain('Still here.');
    expect(at.output.lines.some((line) => line.includes('$/cancel_request'))).toBe(true);
    at.assertConformance();
  },
);

test('a prompt right after a cancel waits for the end of the one before, and can be cancelled too', async () => {
  const ask = { calls: [shell('touch a')] };
  const at = await editor({
    answer: () => 'never',
    script: [ask, { text: 'Then this.' }, ask, { text: 'never asked' }],
  });
  const { sessionId } = await at.open();
  const begin = async (count: number) => {
    const answer = at.prompt(sessionId, 'go');
    await expect.poll(() => at.questions.length).toBe(count);
    void at.cancel(sessionId);
    return [answer, at.prompt(sessionId, 'rather this')];
  };
  const reasons = async (answers: readonly Promise<{ stopReason: string }>[]) =>
    (await Promise.all(answers)).map(({ stopReason }) => stopReason);
  expect(await reasons(await begin(1))).toEqual(['cancelled', 'end_turn']);
  const answers = await begin(2);
  void at.cancel(sessionId);
  expect(await reasons(answers)).toEqual(['cancelled', 'cancelled']);
  expect(at.server.requests).toHaveLength(3);
  at.assertConformance();
});

test('sessions are listed, loaded with their history, resumed, closed and deleted, also by another process', async () => {
  const cwd = tempDirectory({ 'a.txt': 'alpha\n' });
  const read = { id: 'r1', name: 'read_file', args: { absolute_path: join(cwd, 'a.txt') } };
  const first = await editor({ cwd, script: [{ text: 'I look.', calls: [read] }, { text: 'It says alpha.' }] });
  const { sessionId } = await first.open();
  await first.prompt(sessionId, 'what is in a.txt?');
  expect(await first.leave()).toBe(0);

  const at = await editor({ cwd, home: first.home, script: [{ text: 'I told you.' }] });
  const params = { sessionId, cwd, mcpServers: [] };
  const listed = await at.agent.request(session.list, { cwd });
  expect(listed.sessions).toMatchObject([{ sessionId, cwd, title: 'what is in a.txt?' }]);
  expect(await at.agent.request(session.list, {})).toEqual(listed);

  await at.agent.request(session.load, params);
  expect(at.textOf('user_message_chunk')).toBe('what is in a.txt?');
  expect(at.textOf('agent_message_chunk')).toBe('I look.It says alpha.');
  expect(at.of('tool_call')).toMatchObject([{ toolCallId: 'r1', kind: 'read', status: 'completed' }]);
  expect(JSON.stringify(at.of('tool_call'))).toContain('alpha');
  await at.prompt(sessionId, 'again?');
  expect(at.heard(0)).toContain('It says alpha.');

  await at.agent.request(session.close, { sessionId });
  await expect(at.prompt(sessionId, 'hello?')).rejects.toThrow(/not found/i);
  const seen = at.updates.length;
  await at.agent.request(session.resume, params);
  expect(at.textOf('user_message_chunk', seen)).toBe('');
  await at.agent.request(session.delete, { sessionId });
  expect(await at.agent.request(session.list, {})).toEqual({ sessions: [] });
  await expect(at.agent.request(session.load, params)).rejects.toThrow(/not found/i);
  at.assertConformance();
});

test('a buffer with unsaved text is read and edited without losing it', async () => {
  const cwd = tempDirectory({ 'a.txt': 'one\ntwo\n' });
  const path = join(cwd, 'a.txt');
  const buffers = new Map([[path, 'one\ntyped, not saved\ntwo\n']]);
  const at = await editor({
    cwd,
    buffers,
    script: [
      { calls: [{ id: 'r1', name: 'read_file', args: { absolute_path: path } }] },
      { calls: [edit(path, 'two', '2')] },
      { text: 'Done.' },
    ],
  });
  const { sessionId } = await at.open();
  await at.prompt(sessionId, 'edit it');
  expect(at.heard(1)).toContain('typed, not saved');
  expect(at.questions[0]?.toolCall.content?.[0]).toMatchObject({ oldText: 'one\ntyped, not saved\ntwo\n' });
  expect(buffers.get(path)).toBe('one\ntyped, not saved\n2\n');
  expect(readFileSync(path, 'utf8')).toBe('one\ntwo\n');
  expect(at.heard(2)).toContain('not saved: commands and searches see');
  await at.prompt(sessionId, '/undo');
  expect(buffers.get(path)).toBe('one\ntyped, not saved\ntwo\n');
  at.assertConformance();
});

test('what a person types while the question waits is not lost', async () => {
  const cwd = tempDirectory({ 'a.txt': 'one\ntwo\n' });
  const path = join(cwd, 'a.txt');
  const buffers = new Map([[path, 'one\ntwo\n']]);
  const at = await editor({
    cwd,
    buffers,
    answer: () => {
      buffers.set(path, 'one\ntwo\ntyped meanwhile\n');
      return 'Yes, once';
    },
    script: [{ calls: [edit(path, 'two', '2')] }, { text: 'Done.' }],
  });
  await at.prompt((await at.open()).sessionId, 'edit it');
  expect(buffers.get(path)).toContain('typed meanwhile');
  expect(at.heard(1)).toMatch(/changed/);
  at.assertConformance();
});

test('modes, model and effort can be chosen; a plan that is approved changes the mode; todos are a plan', async () => {
  const todos = [{ id: '1', content: 'look', status: 'in_progress' }];
  const at = await editor({
    answer: () => 'Yes, and edit files without asking',
    script: [
      { calls: [{ id: 't1', name: 'todo_write', args: { todos } }] },
      { calls: [{ id: 'p1', name: 'exit_plan_mode', args: { plan: 'Do it.' } }] },
      { text: 'Done.' },
    ],
  });
  const { sessionId } = await at.open();
  await at.agent.request(session.setMode, { sessionId, modeId: 'plan' });
  const choose = async (configId: string, value: string) =>
    values((await at.agent.request(session.setConfigOption, { sessionId, configId, value })).configOptions);
  expect(await choose('effort', 'high')).toEqual(['plan', 'scripted', 'high']);
  expect(await choose('model', 'openai/other')).toEqual(['plan', 'other', 'high']);
  await expect(choose('mode', 'none')).rejects.toThrow(/there is no mode/);
  await expect(choose('colour', 'red')).rejects.toThrow(/there is no colour/);
  await at.prompt(sessionId, 'plan it');
  expect(at.server.requests[0]?.body).toMatchObject({ model: 'other' });
  expect(at.of('plan')).toMatchObject([{ entries: [{ content: 'look', status: 'in_progress' }] }]);
  expect(at.of('current_mode_update').at(-1)).toMatchObject({ currentModeId: 'auto-edit' });
  expect(values(at.of('config_option_update').at(-1)?.configOptions ?? [])[0]).toBe('auto-edit');
  at.assertConformance();
});

const values = (options: readonly SessionConfigOption[]) => options.map(({ currentValue }) => currentValue);

test.each([
  ['a notice, where the editor has notices', { session: { notices: {} } }, 1],
  ['a quote in the answer elsewhere', {}, 0],
])('what a person should know is %s', async (_, capabilities, count) => {
  const cwd = tempDirectory({ 'a.txt': 'alpha\n' });
  const calls = [{ name: 'read_file', args: { file_path: join(cwd, 'a.txt') } }];
  const at = await editor({ cwd, capabilities, args: ['--max-turns', '1'], script: [{ calls }] });
  expect(await at.prompt((await at.open()).sessionId, 'read it')).toEqual({ stopReason: 'max_turn_requests' });
  expect(at.of('notice')).toHaveLength(count);
  expect(at.textOf('agent_message_chunk').includes('\n> ')).toBe(count === 0);
  at.assertConformance();
});

test('slash commands: built-in ones answer, those of files ask the model, a path is not a command', async () => {
  const cwd = tempDirectory({
    '.lathe/commands/explain.md': '---\ndescription: explains\n---\nExplain {{args}} to me.',
  });
  const at = await editor({ cwd, args: ['--trust'], script: [{ text: 'Answer.' }] });
  const { sessionId } = await at.open();
  await expect.poll(() => at.of('available_commands_update').length).toBeGreaterThan(0);
  const names = at.of('available_commands_update')[0]?.availableCommands.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['compact', 'init', 'undo', 'explain']));
  expect(names).not.toEqual(expect.arrayContaining(['quit']));
  await at.prompt(sessionId, '/context');
  expect(at.textOf('agent_message_chunk')).toContain(`Session: ${sessionId}`);
  expect(at.server.requests).toHaveLength(0);
  await at.prompt(sessionId, '/explain a.txt');
  await at.prompt(sessionId, '/usr/bin/env is what?');
  expect(at.heard(0)).toContain('Explain a.txt to me');
  expect(at.heard(1)).toContain('/usr/bin/env is what?');
  // A file that the editor adds goes with its command, and with no other.
  const resource = { type: 'resource' as const, resource: { uri: 'file:///b.txt', text: 'not saved yet' } };
  const withFile = (text: string) => [{ type: 'text' as const, text }, resource];
  await at.agent.request(session.prompt, { sessionId, prompt: withFile('/context') });
  await at.prompt(sessionId, '/explain c.txt');
  await at.agent.request(session.prompt, { sessionId, prompt: withFile('/explain ') });
  expect(at.heard(2)).not.toContain('not saved yet');
  expect(at.heard(3)).toMatch(/Explain \/b\.txt to me.*not saved yet/);
  at.assertConformance();
});

test.skipIf(!canSeeProcesses)(
  'an editor that goes away in the middle of a command ends it, and the transcript is written',
  async () => {
    const seconds = uniqueSleep();
    const at = await editor({ args: ['--yolo'], script: [{ text: 'I run it.', calls: [shell(`sleep ${seconds}`)] }] });
    const { sessionId } = await at.open();
    const answer = at.prompt(sessionId, 'run it').catch(() => 'gone');
    await expect.poll(() => processesWith(`sleep\0${seconds}`).length, { timeout: 20_000 }).toBe(1);
    expect(await at.leave()).toBe(0);
    await answer;
    expect(processesWith(`sleep\0${seconds}`)).toEqual([]);
    const folder = join(at.home, '.lathe/sessions');
    const file = readdirSync(folder, { recursive: true }).find((name) => String(name).endsWith(`${sessionId}.jsonl`));
    expect(readFileSync(join(folder, String(file)), 'utf8')).toContain('I run it.');
  },
);

test('a title is not cut within a character, which some editors could not read', async () => {
  const calls = ['', 'x'].map((begin, at) => shell(`echo ${begin}${'😀'.repeat(200)}`, `c${at}`));
  const at = await editor({ args: ['--yolo'], script: [{ calls }, { text: 'Done.' }] });
  await at.prompt((await at.open()).sessionId, 'go');
  expect(at.of('tool_call')).toHaveLength(2);
  expect(at.output.lines.filter((line) => /\\ud[89a-f]/.test(line))).toEqual([]);
});

test('nothing but the protocol reaches stdout, whatever the code of a tool prints', async () => {
  const tool = `import { defineTool } from '@lathe/core';
    export default defineTool({
      name: 'noisy', description: 'Prints.', kind: 'read', parameterSchema: { type: 'object', properties: {} },
      async execute() { console.log('noise 1'); process.stdout.write('noise 2\\n'); return 'ok'; },
    });`;
  const cwd = tempDirectory({ '.lathe/tools/noisy.ts': tool });
  const at = await editor({
    cwd,
    args: ['--trust', '--yolo'],
    script: [{ calls: [{ id: 'n1', name: 'noisy', args: {} }] }, { text: 'Done.' }],
  });
  const { sessionId } = await at.open();
  await at.prompt(sessionId, 'go');
  expect(at.of('tool_call_update').at(-1)).toMatchObject({ status: 'completed' });
  expect(at.output.stderr).toContain('noise 2');
  at.assertConformance();
  await at.leave();
  expect(at.output.lines.filter((line) => line.includes('noise'))).toEqual([]);
});

test('MCP servers that the editor names start after a yes, which is remembered, and never after a no', async () => {
  const home = tempDirectory();
  const cwd = tempDirectory();
  const command = {
    command: process.execPath,
    args: [asking],
    env: [{ name: 'API_TOKEN', value: 'planted-secret-1' }],
  };
  const servers = [{ name: 'asking', ...command }];
  const options = { home, cwd, args: ['--trust'], script: [{ text: 'Done.' }] };
  const declaredTo = (at: Awaited<ReturnType<typeof editor>>) => JSON.stringify(at.server.requests[0]?.body['tools']);
  const run = async (answer: string) => {
    const at = await editor({ ...options, answer: () => answer });
    await at.prompt((await at.open(servers)).sessionId, 'go');
    at.assertConformance();
    await at.leave();
    return at;
  };
  const denied = await run('No');
  expect(denied.questions).toHaveLength(1);
  expect(JSON.stringify(denied.questions)).toMatch(/Let your editor start the MCP server.*API_TOKEN/s);
  expect(JSON.stringify(denied.questions)).not.toContain('planted-secret');
  expect(declaredTo(denied)).not.toContain('asking__');
  expect(denied.textOf('agent_message_chunk')).toContain('You did not agree to it.');
  expect(declaredTo(await run('Yes, until it changes'))).toContain('asking__');
  const again = await run('never');
  expect([again.questions, declaredTo(again).includes('asking__')]).toEqual([[], true]);
});

const asking = join(import.meta.dirname, '../../../../testing/children/asking-mcp-server.mjs');

test('questions of the model and of servers are forms, where the editor has them', async () => {
  const questions = [{ question: 'Left or right?', options: ['left', 'right'] }, { question: 'Why?' }];
  const servers = [{ name: 'asking', command: process.execPath, args: [asking], env: [] }];
  const script = [
    { calls: [{ id: 'q1', name: 'ask_user_question', args: { questions } }] },
    { calls: [{ id: 'f1', name: 'asking__form', args: {} }] },
    { text: 'Done.' },
  ];
  const content = { answer1: 'left', own2: 'because', name: 'Ada', age: 36, colour: 'green' };
  const { answer1, own2, ...person } = content;
  const at = await editor({
    script,
    capabilities: { elicitation: { form: {} } },
    elicit: ({ message }) => ({
      action: 'accept',
      content: message.includes('Left or right') ? { answer1, own2 } : person,
    }),
  });
  await at.prompt((await at.open(servers)).sessionId, 'ask me');
  expect(at.heard(1)).toContain('Left or right?\\nAnswer: left');
  expect(at.heard(1)).toContain('Why?\\nAnswer: because');
  expect(at.heard(2)).toMatch(/accept.*Ada/);
  expect(at.forms.map(({ message }) => message)).toEqual([
    'Left or right?\n\nWhy?',
    expect.stringMatching(/^The MCP server "asking" asks:\n {2}\| /),
  ]);
  at.assertConformance();

  const without = await editor({ script });
  await without.prompt((await without.open(servers)).sessionId, 'ask me');
  expect(without.heard(1)).toContain('Nobody is there to answer');
  expect(without.forms).toEqual([]);
});
