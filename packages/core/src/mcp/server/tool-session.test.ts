import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { tempDirectory } from '../../../../../testing/temp-directory.js';
import { createLathe } from '../../lathe/create-lathe.js';
import { defineTool } from '../../tools/tools.js';
import { type SessionAnswer, type SessionCall, ToolSession } from './tool-session.js';

const never = new AbortController().signal;
const accept = { action: 'accept' } as const;

/** A session in a folder with one file, and a call that edits it. */
async function editing() {
  const cwd = tempDirectory({ 'a.txt': 'one\ntwo\n' });
  const toolbox = await createLathe({ cwd, env: {}, home: cwd, caller: 'person' });
  const session = new ToolSession(toolbox);
  onTestFinished(() => session.close());
  const file_path = join(cwd, 'a.txt');
  const args = { file_path, old_string: 'one', new_string: 'uno' };
  const edit = (more: Partial<SessionCall> = {}) =>
    session.call({ id: '1', name: 'edit', args, canAsk: true, ...more }, never);
  return { file_path, edit, text: () => readFileSync(file_path, 'utf8') };
}

function questionOf(answer: SessionAnswer): string {
  if (answer.type !== 'question') throw new Error(`no question but ${JSON.stringify(answer)}`);
  return answer.id;
}

test('a call that needs approval changes nothing before it is answered', async () => {
  const { edit, text } = await editing();
  const question = questionOf(await edit());
  expect(text()).toBe('one\ntwo\n');
  expect(await edit({ answer: { question, reply: accept } })).toMatchObject({ outcome: { status: 'success' } });
  expect(text()).toBe('uno\ntwo\n');
});

test('only tools that work without an agent are offered, or exactly those that are named', async () => {
  const cwd = tempDirectory();
  const toolbox = await createLathe({ cwd, env: {}, home: cwd });
  onTestFinished(() => toolbox.close());
  toolbox.tools.registerTool(
    defineTool({ name: 'task', description: 'Needs an agent.', parameterSchema: {}, execute: async () => 'x' }),
  );
  const names = (only?: string[]) => new ToolSession(toolbox, only).tools.map(({ name }) => name);
  expect(names()).toContain('read_file');
  expect(names()).not.toContain('task');
  expect(names(['glob', 'read_file']).toSorted()).toEqual(['glob', 'read_file']);
  expect(() => names(['no_such_tool'])).toThrow('no tool to serve named no_such_tool');
});

test('a declined question says how to allow the call', async () => {
  const { edit, text } = await editing();
  const question = questionOf(await edit());
  const answer = await edit({ answer: { question, reply: { action: 'decline' } } });
  expect(JSON.stringify(answer)).toContain('Allow it with edit(/**) in permissions.allow or --allowed-tools');
  expect(text()).toBe('one\ntwo\n');
});

test('an approval counts once', async () => {
  const { edit, file_path } = await editing();
  const question = questionOf(await edit());
  await edit({ answer: { question, reply: accept } });
  writeFileSync(file_path, 'one\ntwo\n');
  expect(await edit({ answer: { question, reply: accept } })).toMatchObject({ type: 'question' });
});

test('an approval of another call or of an unknown question is asked again', async () => {
  const { edit, file_path, text } = await editing();
  const question = questionOf(await edit());
  writeFileSync(file_path, 'one\nTWO\n');
  const again = questionOf(await edit({ answer: { question, reply: accept } }));
  expect(questionOf(await edit({ answer: { question: 'made-up', reply: accept } }))).not.toBe(again);
  expect(text()).toBe('one\nTWO\n');
});

test('only the first of three approved calls that change the same text succeeds', async () => {
  const { edit, text } = await editing();
  const questions = (await Promise.all([edit(), edit(), edit()])).map(questionOf);
  const answers = await Promise.all(questions.map((question) => edit({ answer: { question, reply: accept } })));
  expect(answers.map((answer) => answer.type === 'outcome' && answer.outcome.status)).toEqual([
    'success',
    'error',
    'error',
  ]);
  expect(text()).toBe('uno\ntwo\n');
});

test('calls above the limit are rejected and the others answered', async () => {
  const { edit } = await editing();
  const calls = Array.from({ length: 5_050 }, () => edit({ name: 'no_such_tool' }));
  const settled = await Promise.allSettled(calls);
  const refused = settled.flatMap(({ status }, index) => (status === 'rejected' ? [index] : []));
  expect(refused).toEqual(Array.from({ length: 50 }, (_, index) => 5_000 + index));
});

test('what a tool asks while it runs is denied at once, since its call cannot be made again for the answer', async () => {
  const cwd = tempDirectory();
  const asking = defineTool({
    name: 'asking',
    description: 'Asks and writes.',
    parameterSchema: {},
    async execute(_params, _signal, call) {
      const { status } = await call.ask('Which one?', ['a', 'b']);
      return call.write('new.txt', status);
    },
  });
  const toolbox = await createLathe({ cwd, env: {}, home: cwd, tools: [asking] });
  const session = new ToolSession(toolbox, ['asking']);
  onTestFinished(() => session.close());
  const answer = await session.call({ id: '1', name: 'asking', args: {}, canAsk: true }, never);
  expect(answer).toMatchObject({ type: 'outcome', outcome: { error: { type: 'execution_denied' } } });
  expect(JSON.stringify(answer)).toContain('Allow it with write_file(/**) in permissions.allow');
  toolbox.host.policy.mode = 'auto-edit';
  await session.call({ id: '2', name: 'asking', args: {}, canAsk: true }, never);
  expect(readFileSync(join(cwd, 'new.txt'), 'utf8')).toBe('nobody');
});
