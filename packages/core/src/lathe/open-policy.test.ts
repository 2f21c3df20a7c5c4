import { readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { textOf } from '../contract/content.js';
import { defineTool } from '../tools/tools.js';
import { createLathe } from './create-lathe.js';

const signal = new AbortController().signal;

/** A Lathe whose person's home directory is a link and whose settings hold these rules. */
async function latheWith(permissions: object, files: Record<string, string> = {}) {
  const place = tempDirectory({
    'home/.lathe/settings.json': JSON.stringify({ permissions }),
    'project/a': '',
    ...files,
  });
  symlinkSync(join(place, 'home'), join(place, 'me'));
  const lathe = await createLathe({ cwd: join(place, 'project'), home: join(place, 'me'), env: {} });
  return { place, lathe };
}

test('a rule on ~ applies to a home directory that is a link', async () => {
  const { place, lathe } = await latheWith({ deny: ['read_file(~/notes/**)'] }, { 'home/notes/a': 'x' });
  const [outcome] = await lathe.run(
    [{ name: 'read_file', args: { absolute_path: join(place, 'home/notes/a') } }],
    signal,
  );
  expect(outcome?.error).toMatchObject({
    type: 'execution_denied',
    message: expect.stringContaining('read_file(~/notes/**)'),
  });
});

test('searches are filtered only while a rule denies reading', async () => {
  const { lathe } = await latheWith({ deny: ['read_file(/secret)'] }, { 'project/secret/key': 'x' });
  const list = [{ name: 'list_directory', args: { path: lathe.workspace.root } }];
  const [filtered] = await lathe.run(list, signal);
  expect(textOf(filtered?.llmContent ?? '')).not.toContain('secret');
  const open = await latheWith({}, { 'project/secret/key': 'x' });
  const [whole] = await open.lathe.run([{ name: 'list_directory', args: { path: open.lathe.workspace.root } }], signal);
  expect(textOf(whole?.llmContent ?? '')).toContain('secret');
});

// RC05
test.each(['{"permissions": {"deny": ["read_file(/a)"]}', '{"permissions": 1}', '{"permissionz": {"deny": ["x"]}}'])(
  'with the settings %s nothing runs unasked, not even reading in yolo mode',
  async (settings) => {
    const place = tempDirectory({ 'home/.lathe/settings.json': settings, 'project/a': '' });
    const root = join(place, 'project');
    const flags = { 'tools.approvalMode': 'yolo' };
    const lathe = await createLathe({ cwd: root, home: join(place, 'home'), env: {}, flags });
    const [outcome] = await lathe.run([{ name: 'read_file', args: { absolute_path: join(root, 'a') } }], signal);
    expect(outcome?.error).toMatchObject({
      type: 'execution_denied',
      message: expect.stringContaining('could not be parsed'),
    });
  },
);

// SD06
test('auto-edit mode changes files of the project without a question, and no others', async () => {
  const place = tempDirectory({ 'project/a': '', 'home/x': '' });
  const lathe = await createLathe({
    cwd: join(place, 'project'),
    home: join(place, 'home'),
    env: {},
    flags: { 'tools.approvalMode': 'auto-edit' },
  });
  const paths = [join(place, 'project/new'), join(place, 'home/new'), join(place, 'project/.git/hooks/pre-commit')];
  const outcomes = await lathe.run(
    paths.map((path) => ({ name: 'write_file', args: { file_path: path, content: 'x' } })),
    signal,
  );
  expect(outcomes.map(({ error }) => error?.type)).toEqual([undefined, 'execution_denied', 'execution_denied']);
});

// SK14
test.each([
  { is_safe: true },
  { approved: true, user_approved: 'yes' },
  { trusted: true, trust: 'full' },
  { requires_approval: false, isReadOnly: true, kind: 'read' },
  { disableSandbox: true, approvalMode: 'yolo' },
])('what a call says of its own safety counts for nothing: %j', async (claim) => {
  const root = tempDirectory({ a: '' });
  const open = defineTool({
    name: 'open_ended',
    displayName: 'Open',
    description: 'Takes anything.',
    kind: 'execute',
    parameterSchema: { type: 'object', properties: {} } as const,
    execute: async () => ({ llmContent: 'ran', returnDisplay: 'ran' }),
  });
  const lathe = await createLathe({ cwd: root, home: tempDirectory(), env: {}, tools: [open] });
  const calls = [
    { name: 'run_shell_command', args: { command: 'touch b', ...claim } },
    { name: 'write_file', args: { file_path: join(root, 'b'), content: 'x', ...claim } },
    { name: 'open_ended', args: claim },
  ];
  const outcomes = await lathe.run(calls, signal);
  for (const { error } of outcomes) expect(['invalid_tool_params', 'execution_denied']).toContain(error?.type);
  expect(readdirSync(root)).toEqual(['a']);
});

// SA23
test('an allow rule that its own examples disprove does not count, and is reported', async () => {
  const rules = ['run_shell_command(touch a)', 'run_shell_command(touch *)'];
  const examples = {
    'run_shell_command(touch a)': { match: ['touch a'], not_match: ['touch a; rm a', 'touch b'] },
    'run_shell_command(touch *)': { not_match: ['touch ~/.bashrc'] },
  };
  const { lathe } = await latheWith({ allow: rules, examples });
  expect(lathe.problems).toEqual([
    'permissions.examples: "touch *" matches "touch ~/.bashrc". It allows nothing until you fix it.',
  ]);
  const commands = ['touch a', 'touch b'];
  const outcomes = await lathe.run(
    commands.map((command) => ({ name: 'run_shell_command', args: { command } })),
    signal,
  );
  expect(outcomes.map(({ error }) => error?.type)).toEqual([undefined, 'execution_denied']);
});

test('a deny rule that its own examples disprove still denies, and is reported', async () => {
  const rule = 'run_shell_command(touch *)';
  const { lathe } = await latheWith({
    deny: [rule],
    examples: { [rule]: { match: ['rm a'] }, typo: { match: ['a'] } },
  });
  expect(lathe.problems).toEqual([
    'permissions.examples: "touch *" does not match "rm a". It still restricts.',
    'permissions.examples: "typo" is not a command rule in one of the lists.',
  ]);
  const [outcome] = await lathe.run([{ name: 'run_shell_command', args: { command: 'touch a' } }], signal);
  expect(outcome?.error?.type).toBe('execution_denied');
});
