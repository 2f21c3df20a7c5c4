import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { badMcpServer } from '../../../../testing/bad-mcp-servers.js';
import { yes } from '../../../../testing/scheduler-kit.js';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { createLathe } from './create-lathe.js';

const never = new AbortController().signal;

/** A project with tools of every kind, in plan mode, and a person who says yes to everything. */
async function planning() {
  const [home, root] = [tempDirectory(), tempDirectory({ 'a.txt': 'alpha\n', 'b.txt': 'beta\n' })];
  const state = join(home, '.lathe');
  mkdirSync(state, { mode: 0o700 });
  const discovered = [{ name: 'build', parameters: { type: 'object', properties: {} } }];
  writeFileSync(join(state, 'tools.json'), JSON.stringify(discovered));
  const server = { command: process.execPath, args: [badMcpServer, 'claims-harmless'] };
  const settings = {
    mcpServers: { trusted: { ...server, trust: true }, stranger: server },
    tools: {
      toolDiscoveryCommand: `cat ${join(state, 'tools.json')}`,
      toolCallCommand: `touch ${join(root, 'built')}`,
      approvalMode: 'plan',
    },
    // No rule opens what the mode closes.
    permissions: { allow: ['run_shell_command', 'write_file', 'edit', 'save_memory', 'build', 'stranger__*'] },
  };
  writeFileSync(join(state, 'settings.json'), JSON.stringify(settings), { mode: 0o600 });
  const env = { PATH: process.env['PATH'] ?? '', HOME: home };
  const lathe = await createLathe({ cwd: root, env, home, latheHome: state, isTrusted: true, approver: yes });
  onTestFinished(() => lathe.close());
  expect(await lathe.discover(never)).toEqual(new Map());
  return { lathe, root };
}

const shell = (command: string) => ['run_shell_command', { command }] as const;

/** One call or more of every tool, and whether it is proven to change nothing. */
const matrix = (root: string): (readonly [name: string, args: Record<string, unknown>, runs: boolean])[] => {
  const file = join(root, 'a.txt');
  return [
    ['list_directory', { path: root }, true],
    ['read_file', { absolute_path: file }, true],
    ['read_many_files', { paths: ['*.txt'] }, true],
    ['grep_search', { pattern: 'alpha' }, true],
    ['glob', { pattern: '*.txt' }, true],
    ['todo_write', { todos: [{ id: '1', content: 'look', status: 'pending' }] }, true],
    [...shell('cat a.txt | sort'), true],
    ['trusted__echo', {}, true],
    [...shell('touch new'), false],
    [...shell('echo x > a.txt'), false],
    [...shell('cat a.txt && rm a.txt'), false],
    [...shell('sort -o a.txt b.txt'), false],
    [...shell('git commit -m x'), false],
    ['run_shell_command', { command: 'cat a.txt', is_background: true }, false],
    ['write_file', { file_path: join(root, 'new'), content: 'x' }, false],
    ['edit', { file_path: file, old_string: 'alpha', new_string: 'beta' }, false],
    ['save_memory', { fact: 'x', scope: 'project' }, false],
    ['save_memory', { fact: 'x', scope: 'global' }, false],
    ['ask_user_question', { questions: [{ question: 'Why?' }] }, true],
    ['build', {}, false],
    ['trusted__wipe', {}, false],
    ['stranger__echo', {}, false],
    ['stranger__wipe', {}, false],
  ];
};

// SK08
test('in plan mode a tool runs only calls that are proven to change nothing, also after a yes', async () => {
  const { lathe, root } = await planning();
  const calls = matrix(root);
  const outcomes = await lathe.run(
    calls.map(([name, args], index) => ({ id: `${index}`, name, args })),
    never,
  );
  expect(outcomes.map(({ name, status, error }, index) => [name, calls[index]?.[1], error?.type ?? status])).toEqual(
    calls.map(([name, args, runs]) => [name, args, runs ? 'success' : 'execution_denied']),
  );
  // What needs a model, a person or the network has tests of its own.
  const named = new Set(['task', 'exit_plan_mode', 'web_fetch', ...calls.map(([name]) => name)]);
  expect(lathe.tools.getAllTools().filter(({ name }) => !named.has(name))).toEqual([]);
  // The sandbox of a next command may still wait, with the names it covers.
  await lathe.close();
  expect(readdirSync(root).toSorted()).toEqual(['a.txt', 'b.txt']);
  expect(lathe.host.policy.mode).toBe('plan');
});
