import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type LatheClient, type NumberedEvent, type Question } from '@lathe/agent/client';
import { beforeAll, expect, test } from 'vitest';
import { agentServer } from '../../../../testing/agent-server.js';
import { buildProgram, runProgram } from '../../../../testing/lathe-program.js';
import { canSeeProcesses, isRunning } from '../../../../testing/running.js';
import { tempDirectory } from '../../../../testing/temp-directory.js';

beforeAll(buildProgram, 300_000);

const shell = (command: string) => ({ name: 'run_shell_command', args: { command } });

/** Reads events until one of this type, and says which came. */
async function until(
  client: LatheClient,
  id: string,
  type: NumberedEvent['type'],
  after = 0,
): Promise<NumberedEvent[]> {
  const events: NumberedEvent[] = [];
  for await (const event of client.events(id, { after, signal: AbortSignal.timeout(20_000) })) {
    events.push(event);
    if (event.type === type) return events;
  }
  return expect.fail(`no ${type} among ${events.map((event) => event.type).join(', ')}`);
}

async function asked(client: LatheClient, id: string, after = 0): Promise<Question> {
  const last = (await until(client, id, 'question-add', after)).at(-1);
  return last?.type === 'question-add' ? last.question : expect.fail('no question');
}

test('a whole task: a prompt, a question answered once, files, usage, transcript and audit as in the terminal', async () => {
  const cwd = tempDirectory({ 'a.txt': 'alpha\n' });
  const write = { name: 'write_file', args: { file_path: join(cwd, 'b.txt'), content: 'bee\n' } };
  const { client, home } = await agentServer([{ calls: [write] }, { text: 'It is done.' }], { cwd });
  const { id, status } = await client.createSession();
  expect(status).toBe('idle');
  await client.prompt(id, 'write b.txt, see @a.txt');
  await expect(client.prompt(id, 'again')).rejects.toMatchObject({ status: 409 });
  const question = await asked(client, id);
  expect(question).toMatchObject({ kind: 'approval', tool: 'write_file', text: expect.stringContaining('+bee') });
  expect(await client.session(id)).toMatchObject({ status: 'waiting' });
  const [listed] = await client.questions(id);
  expect(listed).toMatchObject({ id: question.id, confirmation: { newContent: 'bee\n' } });
  // An answer that was not offered changes nothing.
  const wrong = [{ option: 'always:everything' }, { option: 'yes', text: 'x' }, { option: '' }, { option: 'edit' }];
  for (const answer of wrong)
    await expect(client.answer(id, question.id, answer)).rejects.toMatchObject({ status: 422 });
  await client.answer(id, question.id, { option: 'yes' });
  await expect(client.answer(id, question.id, { option: 'no' })).rejects.toMatchObject({ status: 409 });
  const events = await until(client, id, 'prompt-end');
  expect(events.at(-1)).toMatchObject({ end: { reason: 'done', text: 'It is done.' } });
  expect(events.map((event) => event.id)).toEqual(events.map((event) => event.id).toSorted((a, b) => a - b));
  expect(readFileSync(join(cwd, 'b.txt'), 'utf8')).toBe('bee\n');
  expect(await client.files(id)).toMatchObject([{ path: join(cwd, 'b.txt'), isNew: true, changes: 1 }]);
  expect(await client.usage(id)).toMatchObject({ turns: 2, contextWindow: expect.any(Number) });
  const { messages } = await client.messages(id);
  expect(messages.map(({ role }) => role)).toEqual(['user', 'model', 'tool', 'model']);
  expect(JSON.stringify(messages[0])).toContain('alpha');
  await client.closeSession(id);
  const audit = await runProgram(['audit', '--json'], { cwd, home });
  expect(JSON.parse(audit.stdout).at(-1)).toMatchObject({ tool: 'write_file', decision: { outcome: 'once' } });
  const sessions = await runProgram(['sessions', '--json'], { cwd, home });
  expect(JSON.parse(sessions.stdout)).toMatchObject([{ id, title: 'write b.txt, see @a.txt' }]);
});

test('an answer can grant the rule that was shown, in its scope, and nothing more', async () => {
  const calls = (command: string) => ({ calls: [shell(command)] });
  const script = [calls('touch a'), calls('touch b'), calls('mkdir c'), { text: 'done' }];
  const { client, cwd } = await agentServer(script, { flags: ['--sandbox', 'off'] });
  const { id } = await client.createSession();
  await client.prompt(id, 'go');
  const first = await asked(client, id);
  const lasting = first.options.filter(({ isLasting }) => isLasting);
  // Nobody trusted the folder, so no rule can be saved in its settings.
  expect(lasting.map(({ id: option }) => option)).toEqual([
    'always:session',
    'always:project',
    'always:user',
    'always:exact:session',
    'always:exact:project',
  ]);
  expect(lasting[0]?.label).toContain('touch …');
  const { lastEventId = 0 } = await client.session(id);
  await client.answer(id, first.id, { option: 'always:session' });
  const second = await asked(client, id, lastEventId);
  expect(second.text).toContain('mkdir c');
  await client.answer(id, second.id, { option: 'no', text: 'not that' });
  await until(client, id, 'prompt-end');
  expect(['a', 'b', 'c'].map((name) => existsSync(join(cwd, name)))).toEqual([true, true, false]);
  expect(JSON.stringify((await client.messages(id)).messages)).toContain('not that');
});

test('a session is listed, closed, opened again with its history, and deleted', async () => {
  const { client, home, cwd } = await agentServer([{ text: 'one' }, { text: 'two' }]);
  const { id } = await client.createSession({ mode: 'plan', effort: 'low' });
  expect(await client.session(id)).toMatchObject({ mode: 'plan', effort: 'low' });
  await client.prompt(id, 'first');
  await until(client, id, 'prompt-end');
  await client.closeSession(id);
  await expect(client.session(id)).rejects.toMatchObject({ status: 404 });
  expect(await client.sessions()).toMatchObject([{ id, status: 'stored', title: 'first' }]);
  expect(await client.openSession(id)).toMatchObject({ id, status: 'idle', title: 'first', mode: 'default' });
  expect(await client.openSession(id)).toMatchObject({ id });
  await client.prompt(id, 'second');
  await until(client, id, 'prompt-end');
  expect((await client.session(id)).title).toBe('first');
  expect((await client.messages(id)).messages).toHaveLength(4);
  await client.deleteSession(id);
  expect(await client.sessions()).toEqual([]);
  expect((await runProgram(['sessions', '--json'], { cwd, home })).stdout.trim()).toBe('[]');
  await expect(client.openSession(id)).rejects.toMatchObject({ status: 404 });
});

test('the title of a session is not cut within a character', async () => {
  const { client } = await agentServer([{ text: 'one' }]);
  const { id } = await client.createSession();
  const begin = 'x'.repeat(199);
  await client.prompt(id, `${begin}😀`);
  await until(client, id, 'prompt-end');
  expect((await client.session(id)).title).toBe(begin);
  await client.closeSession(id);
  expect(await client.sessions()).toMatchObject([{ title: begin }]);
});

test('a reader that comes back after the session was closed and opened again learns that it missed something', async () => {
  const { client } = await agentServer([{ text: 'one' }, { text: 'two' }, { text: 'three' }]);
  const { id } = await client.createSession();
  await client.prompt(id, 'first');
  const last = (await until(client, id, 'prompt-end')).at(-1)?.id ?? 0;
  await Promise.all([client.closeSession(id), client.openSession(id)]);
  for (const text of ['second', 'third']) {
    const { lastEventId } = await client.session(id);
    await client.prompt(id, text);
    await until(client, id, 'prompt-end', lastEventId);
  }
  const events = await until(client, id, 'prompt-end', last);
  expect(events[0]).toMatchObject({ type: 'gap' });
  expect(events.flatMap((event) => (event.type === 'prompt-end' ? event.end.text : []))).toEqual(['two']);
  expect((await client.messages(id)).messages).toHaveLength(6);
});

test('mode, model and effort change while the session is open, and a model that does not exist is named', async () => {
  const { client } = await agentServer([{ calls: [shell('touch a')] }, { text: 'done' }]);
  const { id } = await client.createSession();
  expect(await client.updateSession(id, { mode: 'yolo', effort: 'high' })).toMatchObject({
    mode: 'yolo',
    effort: 'high',
  });
  for (const [name, mode] of [
    ['auto', 'auto-edit'],
    ['auto_edit', 'auto-edit'],
    ['autoEdit', 'auto-edit'],
    ['acceptEdits', 'auto-edit'],
    ['bypassPermissions', 'yolo'],
  ] as const) {
    expect(await client.updateSession(id, { mode: name })).toMatchObject({ mode });
    expect(await client.createSession({ mode: name })).toMatchObject({ mode });
  }
  await expect(client.updateSession(id, { model: 'ollama/none' })).rejects.toMatchObject({ status: 422 });
  await client.prompt(id, 'go');
  const types = (await until(client, id, 'prompt-end')).map(({ type }) => type);
  expect(types).not.toContain('question-add');
});

test('cancel ends the work and its question, and the session continues', async () => {
  const { client, cwd } = await agentServer([{ calls: [shell('touch a')] }, { text: 'later' }]);
  const { id } = await client.createSession();
  await client.prompt(id, 'go');
  const question = await asked(client, id);
  await client.cancel(id);
  expect(await client.session(id)).toMatchObject({ status: 'idle' });
  await expect(client.answer(id, question.id, { option: 'yes' })).rejects.toMatchObject({ status: 409 });
  const { lastEventId = 0 } = await client.session(id);
  await client.prompt(id, 'go on');
  expect((await until(client, id, 'prompt-end', lastEventId)).at(-1)).toMatchObject({ end: { text: 'later' } });
  expect(existsSync(join(cwd, 'a'))).toBe(false);
});

test('a question is answered in its own session, while it waits, and not by one who was asked something else', async () => {
  const { client, cwd } = await agentServer([{ calls: [shell('touch a')] }]);
  const [one, two] = [await client.createSession(), await client.createSession()];
  for (const { id } of [one, two]) await client.prompt(id, 'go');
  const [first, second] = [await asked(client, one.id), await asked(client, two.id)];
  expect(first.id).not.toBe(second.id);
  await expect(client.answer(one.id, second.id, { option: 'yes' })).rejects.toMatchObject({ status: 409 });
  await client.cancel(one.id);
  await client.closeSession(two.id);
  for (const [{ id }, question] of [[one, first] as const, [two, second] as const])
    await expect(client.answer(id, question.id, { option: 'yes' })).rejects.toThrow(/no longer waits|not open/);
  expect(existsSync(join(cwd, 'a'))).toBe(false);
  // A new question has a new id, also when it asks the same.
  await client.prompt(one.id, 'again');
  const again = await asked(client, one.id, ((await client.session(one.id)).lastEventId ?? 0) - 1);
  expect(again.id).not.toBe(first.id);
  await expect(client.answer(one.id, first.id, { option: 'yes' })).rejects.toMatchObject({ status: 409 });
  expect(existsSync(join(cwd, 'a'))).toBe(false);
});

test('the limits of the command line hold for each session', async () => {
  const { client } = await agentServer([{ calls: [shell('pwd')] }], { flags: ['--yolo', '--max-turns', '2'] });
  const { id } = await client.createSession();
  await client.prompt(id, 'go');
  expect((await until(client, id, 'prompt-end')).at(-1)).toMatchObject({ end: { reason: 'max-turns', turns: 2 } });
});

test('an addition reaches the model with its next request', async () => {
  const { client, model } = await agentServer([{ calls: [shell('touch a')] }, { text: 'done' }]);
  const { id } = await client.createSession();
  await expect(client.steer(id, 'too early')).rejects.toMatchObject({ status: 409 });
  await client.prompt(id, 'go');
  const question = await asked(client, id);
  await client.steer(id, 'and be quick');
  await client.answer(id, question.id, { option: 'no' });
  const events = await until(client, id, 'prompt-end');
  expect(events).toContainEqual(expect.objectContaining({ type: 'steer-end', isDelivered: true }));
  expect(JSON.stringify(model.requests[1]?.body)).toContain('and be quick');
});

test('several readers get the same events, one that leaves holds up nobody, and one that returns continues', async () => {
  const { client } = await agentServer([{ calls: [shell('touch a')] }, { text: 'one two three' }]);
  const { id } = await client.createSession();
  const watchers = [until(client, id, 'prompt-end'), until(client, id, 'prompt-end')];
  await client.prompt(id, 'go');
  // This reader leaves at the question.
  const question = await asked(client, id);
  const seen = (await client.session(id)).lastEventId ?? 0;
  await client.answer(id, question.id, { option: 'no' });
  const [first = [], second = []] = await Promise.all(watchers);
  expect(first.map(({ type }) => type)).toContain('text-delta');
  expect(second).toEqual(first);
  const rest = await until(client, id, 'prompt-end', seen);
  const text = (events: NumberedEvent[]) => events.filter((event) => event.id > seen && event.type !== 'text-delta');
  expect(rest).toEqual(text(first));
});

test('a question of the model is answered by an option or in own words', async () => {
  const questions = [
    { question: 'Which?', options: ['red', 'blue'] },
    { question: 'Why?', options: [] },
  ];
  const script = [{ calls: [{ name: 'ask_user_question', args: { questions } }] }, { text: 'ok' }];
  const { client, model } = await agentServer(script);
  const { id } = await client.createSession();
  await client.prompt(id, 'go');
  const which = await asked(client, id);
  expect(which).toMatchObject({ kind: 'question', text: 'Which?' });
  expect(which.options.map(({ id: option }) => option)).toEqual(['1', '2', 'write', 'none']);
  const { lastEventId = 0 } = await client.session(id);
  await client.answer(id, which.id, { option: '2' });
  await client.answer(id, (await asked(client, id, lastEventId)).id, { option: 'write', text: 'because of the sky' });
  await until(client, id, 'prompt-end');
  const second = JSON.stringify(model.requests[1]?.body);
  expect(second).toContain('blue');
  expect(second).toContain('because of the sky');
});

test('tools of the project are looked for at the first prompt', async () => {
  const listing = `touch listed; echo '[{"name":"greet","description":"Greets."}]'`;
  const cwd = tempDirectory({
    '.lathe/settings.json': JSON.stringify({ tools: { toolDiscoveryCommand: 'sh list.sh', toolCallCommand: 'echo' } }),
    'list.sh': listing,
  });
  const { client, model } = await agentServer([{ text: 'hi' }], { cwd, flags: ['--trust'] });
  const { id } = await client.createSession();
  expect(existsSync(join(cwd, 'listed'))).toBe(false);
  await client.prompt(id, 'go');
  await until(client, id, 'prompt-end');
  expect(existsSync(join(cwd, 'listed'))).toBe(true);
  expect(JSON.stringify(model.requests[0]?.body['tools'])).toContain('greet');
});

test.skipIf(!canSeeProcesses)('the end of the server ends its work, and no process stays', async () => {
  const marker = `61.${process.pid}`;
  const { client, child, cwd, stop } = await agentServer([{ calls: [shell(`touch started; sleep ${marker}`)] }], {
    flags: ['--yolo'],
  });
  const { id } = await client.createSession();
  await client.prompt(id, 'go');
  await expect.poll(() => existsSync(join(cwd, 'started'))).toBe(true);
  await stop();
  expect([child.exitCode, isRunning(marker)]).toEqual([130, false]);
});

test('an id that looks like another request does nothing', async () => {
  const { client } = await agentServer([{ text: 'hi' }]);
  const { id } = await client.createSession();
  for (const wrong of [`${id}/close?`, `${id}/close#`, `x/../${id}/close?`, '../sessions?', '..', '.', ''])
    await expect(client.openSession(wrong), wrong).rejects.toMatchObject({ name: 'ApiError' });
  await expect(client.answer(id, '../close?', { option: 'yes' })).rejects.toMatchObject({ name: 'ApiError' });
  expect((await client.sessions()).map((session) => [session.id, session.status])).toEqual([[id, 'idle']]);
});
