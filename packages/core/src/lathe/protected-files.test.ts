import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { isLong } from '../../../../testing/long-run.js';
import { hasProgram } from '../../../../testing/programs.js';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import type { CallRequest } from '../contract/call.js';
import { executedNames } from '../files/access/protected-names.js';
import { LatheHome } from '../files/lathe-home.js';
import { AgreedRules } from '../policy/agreed-rules.js';
import { FolderTrust } from '../policy/folder-trust.js';
import { createLathe } from './create-lathe.js';

const never = new AbortController().signal;

/** A project whose person allows as much as can be allowed, and is not there. */
async function setUp(mode: string, files: Record<string, string> = {}) {
  const base = tempDirectory({
    'home/.lathe/settings.json': JSON.stringify({
      permissions: { allow: ['run_shell_command', 'edit', 'write_file', 'read_file'] },
      tools: { sandbox: 'off' },
    }),
    'app/x': 'planted\n',
    'app/d/hooks/pre-commit': 'planted\n',
    ...files,
  });
  const cwd = join(base, 'app');
  const env = { PATH: process.env['PATH'] ?? '', HOME: join(base, 'home') };
  const lathe = await createLathe({ cwd, home: join(base, 'home'), env, flags: { 'tools.approvalMode': mode } });
  onTestFinished(() => lathe.close());
  return { cwd, lathe };
}

const shell = (command: string): CallRequest => ({ name: 'run_shell_command', args: { command } });

/** Ways to bring bytes to a path. */
const ways: Record<string, (path: string) => CallRequest> = {
  write_file: (path) => ({ name: 'write_file', args: { file_path: path, content: 'planted' } }),
  edit: (path) => ({ name: 'edit', args: { file_path: path, old_string: '', new_string: 'planted' } }),
  'a redirection': (path) => shell(`echo planted > ${quote(path)}`),
  cp: (path) => shell(`cp x ${quote(path)}`),
  'cp into its folder': (path) => shell(`cp d/hooks/${quote(basename(path))} ${quote(`${dirname(path)}/`)}`),
  mv: (path) => shell(`mv x ${quote(path)}`),
  tee: (path) => shell(`echo planted | tee ${quote(path)}`),
  'sed -i': (path) => shell(`sed -i s/a/b/ ${quote(path)}`),
  'ln -s': (path) => shell(`ln -sf x ${quote(path)}`),
  'a subshell': (path) => shell(`(cd ${quote(dirname(path))} && echo planted > ${quote(basename(path))})`),
};
const quote = (text: string) => `'${text}'`;

/** All of them in the long run, otherwise some for each path, in turn. */
function waysTo(index: number): [string, (typeof ways)[string]][] {
  const all = Object.entries(ways);
  return isLong ? all : [0, 3, 7].flatMap((step) => all.slice((index + step) % all.length).slice(0, 1));
}

const modes = ['plan', 'default', 'auto-edit', 'yolo'];

/** One path for each protected name, and one below it; those of the system as they are. */
function protectedPaths(cwd: string): { inside: string[]; system: string[] } {
  const plain = executedNames.map((name) => name.replaceAll('*', 'x'));
  const inside = plain.filter((name) => !name.startsWith('/')).map((name) => join(cwd, name));
  return {
    inside: inside.flatMap((path) => [path, join(path, 'x')]),
    system: plain.filter((name) => name.startsWith('/')),
  };
}

// SD01, SD06
test.each(modes)(
  'in %s mode no protected path is written without a person, whatever the rules allow',
  { timeout: 300_000 },
  async (mode) => {
    const { cwd, lathe } = await setUp(mode);
    const { inside } = protectedPaths(cwd);
    expect(inside.length).toBeGreaterThanOrEqual(60);
    const before = readdirSync(cwd, { recursive: true });
    const calls = inside.flatMap((path, index) =>
      waysTo(index).map(([way, call]) => ({ way, path, call: call(path) })),
    );
    const outcomes = await lathe.run(
      calls.map(({ call }) => call),
      never,
    );
    const ran = calls.filter((_, index) => outcomes[index]?.error?.type !== 'execution_denied');
    expect(ran.map(({ way, path }) => `${way} ${path}`)).toEqual([]);
    expect(readdirSync(cwd, { recursive: true })).toEqual(before);
  },
);

// SD01
test.each(modes)('in %s mode the same applies to those of the system, by what the policy says', async (mode) => {
  const { cwd, lathe } = await setUp(mode);
  const verdicts: string[] = [];
  for (const path of protectedPaths(cwd).system)
    for (const [way, call] of Object.entries(ways)) {
      const { name = '', args } = call(path);
      const tool = lathe.tools.getTool(name);
      const targets = (await tool?.getTargets(args as never)) ?? [];
      const confirmation = { type: 'info' as const, title: '', prompt: '' };
      const { verdict } = lathe.host.policy.judge({ tool: name, isReadOnly: false, targets, confirmation });
      if (verdict === 'allow') verdicts.push(`${way} ${path}`);
    }
  expect(verdicts).toEqual([]);
});

test.each([
  'AGENTS.md',
  'QWEN.md',
  'CLAUDE.md',
  'docs/AGENTS.md',
  'RULES.md',
  'pkg/Rules.md',
  '.agents/skills/x/SKILL.md',
])('instructions for agents in %s ask in auto-edit mode, other files do not', async (name) => {
  const base = tempDirectory({
    'home/.lathe/settings.json': JSON.stringify({ context: { fileName: ['AGENTS.md', 'RULES.md'] } }),
    [`app/${name}`]: 'old\n',
    'app/README.md': 'old\n',
  });
  const [cwd, home] = [join(base, 'app'), join(base, 'home')];
  const lathe = await createLathe({ cwd, home, env: {}, flags: { 'tools.approvalMode': 'auto-edit' } });
  onTestFinished(() => lathe.close());
  const edit = (path: string) => ({
    name: 'edit',
    args: { file_path: join(cwd, path), old_string: 'old', new_string: 'new' },
  });
  const outcomes = await lathe.run([edit(name), edit('README.md')], never);
  expect(outcomes.map(({ error }) => error?.type)).toEqual(['execution_denied', undefined]);
});

test.each([
  ['CLAUDE.md', 'docs/guide.md', 'CLAUDE.md', 'docs/guide.md'],
  ['RULES.md', 'docs/guide.md', 'RULES.md', 'docs/guide.md'],
  ['.vscode', 'editor', '.vscode/tasks.json', 'editor/tasks.json'],
  ['.claude/skills', '../skills', '.claude/skills/x/SKILL.md', 'skills/x/SKILL.md'],
  ['.claude/skills/x', '../../skills/x', '.claude/skills/x/SKILL.md', 'skills/x/SKILL.md'],
  ['.cargo', 'tools', '.cargo/config.toml', 'tools/config.toml'],
])('where %s is a symlink to %s, it is protected under both names', async (link, target, name, realName) => {
  const base = tempDirectory({
    'home/.lathe/settings.json': JSON.stringify({ context: { fileName: ['AGENTS.md', 'RULES.md'] } }),
    [`app/${realName}`]: 'old\n',
    'app/README.md': 'old\n',
  });
  const [cwd, home] = [join(base, 'app'), join(base, 'home')];
  mkdirSync(dirname(join(cwd, link)), { recursive: true });
  symlinkSync(target, join(cwd, link));
  const flags = { 'tools.approvalMode': 'auto-edit' };
  const lathe = await createLathe({ cwd, home, env: { PATH: process.env['PATH'] }, flags });
  onTestFinished(() => lathe.close());
  const edit = (path: string) => ({
    name: 'edit',
    args: { file_path: join(cwd, path), old_string: 'old', new_string: 'new' },
  });
  const calls = [
    edit(name),
    edit(realName),
    shell(`echo x > ${name}`),
    shell(`echo x > ${realName}`),
    edit('README.md'),
  ];
  const outcomes = await lathe.run(calls, never);
  const denied = 'execution_denied';
  expect(outcomes.map(({ error }) => error?.type)).toEqual([denied, denied, denied, denied, undefined]);
  expect(readFileSync(join(cwd, realName), 'utf8')).toBe('old\n');
});

test.each([
  ['.env', 'config/prod'],
  ['.netrc', 'config/prod'],
])('a file with keys that the symlink %s leads to is not read unasked, in any mode', async (link, target) => {
  const base = tempDirectory({ [`app/${target}`]: 'KEY=1\n', 'home/x': '' });
  const [cwd, home] = [join(base, 'app'), join(base, 'home')];
  symlinkSync(target, join(cwd, link));
  const flags = { 'tools.approvalMode': 'yolo' };
  const lathe = await createLathe({ cwd, home, env: { PATH: process.env['PATH'] }, flags });
  onTestFinished(() => lathe.close());
  const read = { name: 'read_file', args: { file_path: join(cwd, link) } };
  const outcomes = await lathe.run([read, shell(`cat ${link}`)], never);
  expect(outcomes.map(({ error }) => error?.type)).toEqual(['execution_denied', 'execution_denied']);
});

/** What stands between a folder full of planted files and a repository that executes them. */
const handoffs: [string, string][] = [
  ['a folder moved into place', 'mv d .git'],
  ['a folder copied into place', 'cp -r d .git'],
  ['a folder moved into place by its contents', 'mkdir .git && mv d/* .git/'],
  ['a link into place', 'ln -s d .git'],
  ['hooks copied', 'cp d/hooks/pre-commit .git/hooks/'],
  ['hooks copied with -t', 'cp -t .git/hooks d/hooks/pre-commit'],
  ['hooks installed', 'install -m 755 d/hooks/pre-commit .git/hooks/pre-commit'],
  ['hooks synced', 'rsync -a d/ .git/'],
  ['another place for hooks', 'git config core.hooksPath d/hooks'],
  ['another place for hooks, in one call', 'git -c core.hooksPath=d/hooks commit -m x'],
  ['an alias that runs a program', "git config alias.st '!sh x'"],
  ['a template', 'git init --template=d'],
  ['a template for a clone', 'git clone --template=d . ../y'],
  ['an archive unpacked', 'tar -xf x.tar -C .git'],
  ['an archive unpacked here', 'unzip x.zip -d .git/hooks'],
  ['a patch', 'patch .git/config < x'],
  ['a download', 'curl -o .git/hooks/pre-commit http://127.0.0.1:9/x'],
];

// SD05
test.skipIf(!hasProgram('git')).each(handoffs)('%s does not run without a question', async (_, command) => {
  for (const mode of ['default', 'auto-edit']) {
    const base = tempDirectory({
      'app/d/hooks/pre-commit': 'x',
      'home/.lathe/settings.json': '{"tools":{"sandbox":"off"}}',
    });
    const env = { PATH: process.env['PATH'] ?? '', HOME: join(base, 'home') };
    const lathe = await createLathe({ cwd: join(base, 'app'), env, flags: { 'tools.approvalMode': mode } });
    onTestFinished(() => lathe.close());
    const [outcome] = await lathe.run([shell(command)], never);
    expect(outcome?.error?.type).toBe('execution_denied');
    expect(readdirSync(join(base, 'app'))).toEqual(['d']);
  }
});

// SD05
test.each(handoffs.slice(0, 8))('%s is asked about even in yolo mode', async (_, command) => {
  const { cwd, lathe } = await setUp('yolo');
  const [outcome] = await lathe.run([shell(command)], never);
  expect(outcome?.error?.type).toBe('execution_denied');
  expect(existsSync(join(cwd, '.git'))).toBe(false);
});

// SD02
test('rules that a command writes into our settings have no effect, now or later, before the person agrees', async () => {
  const base = tempDirectory({ 'app/a': '', 'home/.lathe/settings.json': '{"tools":{"sandbox":"off"}}' });
  const [cwd, home] = [join(base, 'app'), join(base, 'home')];
  const env = { PATH: process.env['PATH'] ?? '', HOME: home };
  const latheHome = new LatheHome(join(home, '.lathe'));
  await new FolderTrust(latheHome).trust(cwd);
  const greedy = '{"permissions":{"allow":["run_shell_command(touch *)"]},"tools":{"allowed":["run_shell_command"]}}';
  const yes = { decide: async () => ({ outcome: 'once' as const }) };
  const first = await createLathe({ cwd, home, env, approver: yes });
  onTestFinished(() => first.close());
  const before = first.host.policy.rules();
  await first.run([shell(`mkdir .lathe && echo '${greedy}' | tee .lathe/settings.json`)], never);
  expect(readFileSync(join(cwd, '.lathe/settings.json'), 'utf8').trim()).toBe(greedy);
  expect(first.host.policy.rules()).toEqual(before);

  const open = async () => {
    const lathe = await createLathe({ cwd, home, env });
    onTestFinished(() => lathe.close());
    return lathe;
  };
  const second = await open();
  expect((await second.run([shell('touch planted')], never))[0]?.error?.type).toBe('execution_denied');
  expect(second.problems.filter((problem) => problem.includes('have not agreed'))).toHaveLength(2);
  await new AgreedRules(latheHome).add(cwd, ['run_shell_command(touch *)']);
  const third = await open();
  expect((await third.run([shell('touch planted')], never))[0]?.status).toBe('success');
  expect(third.host.policy.rules().allow).toEqual(['run_shell_command(touch *)']);
});

// SD02
test('"always" for the project is an agreement, to that rule and no other', async () => {
  const base = tempDirectory({ 'app/.lathe/settings.json': '{"permissions":{"allow":["edit(/**)"]}}', 'home/x': '' });
  const [cwd, home] = [join(base, 'app'), join(base, 'home')];
  await new FolderTrust(new LatheHome(join(home, '.lathe'))).trust(cwd);
  const first = await createLathe({ cwd, home, env: {} });
  await first.host.policy.grant(['run_shell_command(npm test)'], 'project');
  const second = await createLathe({ cwd, home, env: {} });
  expect(second.host.policy.rules().allow).toEqual(['run_shell_command(npm test)']);
});
