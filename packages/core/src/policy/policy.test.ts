import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { policyOf } from '../../../../testing/scheduler-kit.js';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import type { Confirmation } from '../contract/confirmation.js';
import type { Target } from '../contract/target.js';
import type { ApprovalMode, JudgedCall } from './policy.js';

const question: Confirmation = { type: 'info', title: '?', prompt: '' };
const edit: Confirmation = { type: 'edit', title: '?', fileName: 'a', filePath: '/project/a', fileDiff: '' };

function call(tool: string, more: Partial<JudgedCall> = {}): JudgedCall {
  return { tool, isReadOnly: false, targets: [], confirmation: question, ...more };
}

const command = (text: string, more: Partial<Target> = {}): Target =>
  ({ type: 'command', words: text.split(' '), asks: true, ...more }) as Target;
const shell = (...commands: string[]) => call('run_shell_command', { targets: commands.map((text) => command(text)) });
const write = (path: string, more: Partial<Target> = {}) =>
  call('edit', {
    confirmation: edit,
    targets: [
      { type: 'path', access: 'write', path, asks: true, isInside: path.startsWith('/project/'), ...more } as Target,
    ],
  });
const read = (path: string, tool = 'read_file') =>
  call(tool, {
    isReadOnly: true,
    confirmation: path.startsWith('/project/') ? false : question,
    targets: [{ type: 'path', access: 'read', path, asks: !path.startsWith('/project/') }],
  });
const fetch = (host: string, port?: number) =>
  call('web_fetch', {
    isReadOnly: true,
    targets: [{ type: 'host', host, asks: true, ...(port !== undefined && { port }) }],
  });

test.each<[string, ApprovalMode, JudgedCall, string]>([
  ['a harmless call', 'default', read('/project/a'), 'allow'],
  ['a call that asks', 'default', call('x'), 'ask'],
  ['an edit', 'default', write('/project/a'), 'ask'],
  ['an edit inside', 'auto-edit', write('/project/a'), 'allow'],
  ['an edit outside', 'auto-edit', write('/etc/passwd'), 'ask'],
  ['an edit of a protected file', 'auto-edit', write('/project/.git/config', { guarded: 'hooks' }), 'ask'],
  ['a command', 'auto-edit', shell('npm test'), 'ask'],
  ['a page', 'auto-edit', fetch('example.com'), 'ask'],
  ['a custom tool that asks with an edit', 'auto-edit', call('my_edit', { confirmation: edit }), 'allow'],
  ['a command', 'yolo', shell('rm -rf x'), 'allow'],
  ['an edit of a protected file', 'yolo', write('/project/.git/config', { guarded: 'hooks' }), 'ask'],
  ['leaving plan mode', 'yolo', call('exit_plan_mode', { confirmation: { type: 'plan', title: '', plan: '' } }), 'ask'],
  ['a harmless call', 'plan', read('/project/a'), 'allow'],
  ['a read outside', 'plan', read('/etc/passwd'), 'ask'],
  ['an edit', 'plan', write('/project/a'), 'deny'],
  ['a command that asks nothing but is not proven read-only', 'plan', call('x', { confirmation: false }), 'deny'],
  ['leaving plan mode', 'plan', call('exit_plan_mode', { confirmation: { type: 'plan', title: '', plan: '' } }), 'ask'],
])('%s in %s mode', (_title, mode, judged, verdict) => {
  expect(policyOf({ mode }).judge(judged).verdict).toBe(verdict);
});

test.each<[string, JudgedCall, string]>([
  ['run_shell_command', shell('rm x'), 'allow'],
  ['Bash(git status)', shell('git status'), 'allow'],
  ['run_shell_command(git log)', shell('git log -1'), 'allow'],
  ['run_shell_command(git log)', shell('git logout'), 'ask'],
  ['run_shell_command(git log)', shell('git log-x'), 'ask'],
  ['run_shell_command(git)', shell('gitk'), 'ask'],
  ['run_shell_command(git)', shell('git status', 'rm -rf y'), 'ask'],
  ['run_shell_command(git)', shell('/tmp/evil/git status'), 'ask'],
  ['run_shell_command(npm run *)', shell('npm run test'), 'allow'],
  ['run_shell_command(npm run *)', shell('npm run'), 'allow'],
  ['run_shell_command(npm run test:*)', shell('npm run test x'), 'allow'],
  ['run_shell_command(npm run *)', shell('npm install'), 'ask'],
  [
    'run_shell_command(timeout *)',
    call('run_shell_command', { targets: [command('timeout 5 rm x'), command('rm x', { hidden: true })] }),
    'ask',
  ],
  ['edit', write('/project/a'), 'allow'],
  ['Edit(/src/**)', write('/project/src/deep/a'), 'allow'],
  ['Edit(/src/**)', write('/project/srcs/a'), 'ask'],
  ['Edit(/src/**)', write('/elsewhere/src/a'), 'ask'],
  ['edit(*.ts)', write('/project/x/y.ts'), 'allow'],
  ['edit(/**)', write('/project/.git/config', { guarded: 'hooks' }), 'ask'],
  ['read_file(//etc/**)', read('/etc/hosts'), 'allow'],
  ['read_file(~/notes/**)', read('/home/me/notes/a'), 'allow'],
  ['read_file(~/notes/**)', read('/home/you/notes/a'), 'ask'],
  ['read_file(//etc/**)', read('/ETC/hosts'), 'ask'],
  ['web_fetch(example.com)', fetch('example.com'), 'allow'],
  ['web_fetch(example.com)', fetch('example.com.'), 'allow'],
  ['web_fetch(example.com)', fetch('sub.example.com'), 'ask'],
  ['web_fetch(example.com)', fetch('example.com.evil.test'), 'ask'],
  ['web_fetch(example.com)', fetch('notexample.com'), 'ask'],
  ['web_fetch(example.com)', fetch('example.com', 8080), 'ask'],
  ['WebFetch(domain:example.com)', fetch('EXAMPLE.com'), 'allow'],
  ['web_fetch(*.example.com)', fetch('a.b.example.com'), 'allow'],
  ['web_fetch(*.example.com)', fetch('example.com'), 'ask'],
  ['web_fetch(localhost:3000)', fetch('localhost', 3000), 'allow'],
  ['web_fetch(localhost:3000)', fetch('localhost', 3001), 'ask'],
  ['github__search', call('github__search'), 'allow'],
  ['github__*', call('github__search'), 'allow'],
  ['github', call('github__search'), 'allow'],
  ['mcp__github__search', call('github__search'), 'allow'],
  ['github__*', call('githubx__search'), 'ask'],
  ['read_file', read('/etc/hosts'), 'allow'],
  ['read_file', read('/etc/hosts', 'list_directory'), 'ask'],
  ['list_directory(//etc)', read('/etc/ssh', 'list_directory'), 'allow'],
  ['list_directory(//etc)', read('/etc/hosts'), 'ask'],
  ['read_file(/etc/passwd)', read('/etc/passwd'), 'ask'],
  ['read_file(//etc/)', read('/etc'), 'ask'],
  ['edit(/src/*.{ts,js})', write('/project/src/a.js'), 'allow'],
  ['edit(/src/../../etc/**)', write('/project/src/a'), 'ask'],
  ['task(explorer)', call('task'), 'ask'],
  ['GitHub__*', call('github__search'), 'ask'],
  ['web_fetch(example.com:443)', fetch('example.com'), 'ask'],
])('allow %s', (rule, judged, verdict) => {
  expect(policyOf({ allow: [rule] }).judge(judged).verdict).toBe(verdict);
});

test.each<[string, JudgedCall]>([
  ['run_shell_command(rm)', shell('git status', 'rm -rf y')],
  ['run_shell_command(rm)', shell('/bin/rm x')],
  [
    'run_shell_command(rm)',
    call('run_shell_command', { targets: [command('timeout 5 rm x'), command('rm x', { hidden: true })] }),
  ],
  ['run_shell_command', shell('ls')],
  ['read_file(//etc/**)', read('/etc/hosts', 'list_directory')],
  ['read_file(//ETC/**)', read('/etc/hosts')],
  [
    'Read(*.env)',
    { ...shell('cat x.env'), targets: [{ type: 'path', access: 'read', path: '/project/x.env', asks: false }] },
  ],
  ['edit(/secret/**)', write('/project/secret/a')],
  ['write_file', call('write_file')],
  ['edit', call('write_file')],
  ['web_fetch(example.com)', fetch('sub.example.com', 8443)],
  ['github', call('github__search')],
  ['GitHub__*', call('github__search')],
  ['_own', call('_own')],
  ['RUN_SHELL_COMMAND(rm)', shell('rm x')],
  ['Bash(rm:*)', shell('rm -rf x')],
  ['read_file', call('read_many_files')],
  ['grep_search(/secret/**)', read('/project/secret/a')],
  ['list_directory(/secret)', read('/project/secret', 'list_directory')],
  ['task(explorer)', call('task')],
  ['read_file(/secret/)', read('/project/secret', 'list_directory')],
  ['read_file(/secret/)', read('/project/secret/a')],
  ['read_file(//project//secret/./a)', read('/project/secret/a')],
  ['read_file(//project/src/../secret)', read('/project/secret/a')],
  ['read_file(../../srv/key)', read('/srv/key')],
  ['read_file(..)', read('/other/key')],
  ['read_file(./secret)', read('/project/secret/a')],
  ['read_file(~)', read('/home/me/key')],
  ['read_file(/etc/passwd)', read('/etc/passwd')],
  ['read_file(*.{pem,key})', read('/project/a/b.key')],
  ['read_file(#notes)', read('/project/#notes')],
  ['read_file(/caf\u00e9)', read('/project/cafe\u0301')],
  ['web_fetch(*)', fetch('example.com', 81)],
  ['web_fetch(example.com:443)', fetch('example.com')],
  ['web_fetch(b\u00fccher.example)', fetch('xn--bcher-kva.example')],
  ['web_fetch([0:0:0:0:0:0:0:1])', fetch('[::1]', 3000)],
  ['web_fetch(127.1)', fetch('127.0.0.1', 3000)],
  ['web_fetch(Example.COM.)', fetch('example.com')],
])('deny %s applies in every mode and against every allow rule', (rule, judged) => {
  for (const mode of ['plan', 'default', 'auto-edit', 'yolo'] as const)
    expect(
      policyOf({ mode, deny: [rule], allow: [judged.tool, rule], allowed: [judged.tool] }).judge(judged).verdict,
    ).toBe('deny');
});

// SA16
test('deny beats ask beats allow in any order and any mode', () => {
  const rules = ['run_shell_command(git *)', 'run_shell_command', 'Bash(git push)'];
  fc.assert(
    fc.property(
      fc.subarray(rules),
      fc.subarray(rules),
      fc.subarray(rules),
      fc.constantFrom<ApprovalMode>('default', 'auto-edit', 'yolo'),
      (allow, ask, deny, mode) => {
        const { verdict } = policyOf({ allow, ask, deny, mode }).judge(shell('git push'));
        const expected =
          deny.length > 0 ? 'deny' : ask.length > 0 ? 'ask' : allow.length > 0 || mode === 'yolo' ? 'allow' : 'ask';
        expect(verdict).toBe(expected);
      },
    ),
  );
});

// SE06
test('only what tools.core lists may run, also for every part of a command', () => {
  const policy = policyOf({ mode: 'yolo', core: ['read_file', 'run_shell_command(git)'] });
  expect(policy.judge(read('/project/a')).verdict).toBe('allow');
  expect(policy.judge(shell('git status')).verdict).toBe('allow');
  expect(policy.judge(shell('git status', 'ls')).verdict).toBe('deny');
  expect(policy.judge(write('/project/a')).verdict).toBe('deny');
});

// SE06
test('in yolo mode a list of allowed tools is a limit', () => {
  const policy = policyOf({ mode: 'yolo', allowed: ['run_shell_command(git)'] });
  expect(policy.judge(shell('git push')).verdict).toBe('allow');
  expect(policy.judge(shell('rm x')).verdict).toBe('deny');
});

// SA22
test.each([
  'read_file(!a)',
  'edit({a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b})',
  'web_fetch(https://example.com/x)',
  '',
  '*',
  'a b',
  'run_shell_command(',
  'run_shell_command()',
  '(x)',
  '__',
  'x'.repeat(2000),
])('the rule %j is rejected, and if it should restrict, every call asks', (text) => {
  const policy = policyOf({ deny: [text], allow: ['run_shell_command'], mode: 'yolo' });
  expect(policy.problems).toHaveLength(1);
  expect(policy.judge(shell('ls')).verdict).toBe('ask');
  expect(policy.judge(read('/project/a')).verdict).toBe('ask');
  expect(policyOf({ allow: [text] }).judge(read('/project/a')).verdict).toBe('allow');
});

test.each(['core', 'allowed'] as const)('a list of %s still limits if none of its rules can be parsed', (list) => {
  const policy = policyOf({ mode: 'yolo', [list]: ['run_shell_command(git log'] });
  expect(policy.judge(shell('rm x')).verdict).toBe('deny');
});

test('a rule that forbids a place also forbids the targets of its symlinks; one that permits does not', () => {
  const directory = tempDirectory();
  mkdirSync(join(directory, 'real'));
  symlinkSync(join(directory, 'real'), join(directory, 'link'));
  const spec = `/${join(directory, 'link')}/**`;
  const judged = read(join(directory, 'real', 'a'));
  expect(policyOf({ deny: [`read_file(${spec})`] }).judge(judged).verdict).toBe('deny');
  expect(policyOf({ allow: [`read_file(${spec})`] }).judge(judged).verdict).toBe('ask');
});

// SA22
test.each(['__proto__', 'toString', 'constructor'])('the rule %s names a tool and nothing else', (text) => {
  const policy = policyOf({ allow: [text] });
  expect(policy.judge(call('other')).verdict).toBe('ask');
  expect(policy.judge(call(text)).verdict).toBe('allow');
});

// SK15
test('"always" is remembered for the session, and saved for project and user', async () => {
  const saved: unknown[] = [];
  const policy = policyOf({ save: async (rules, scope) => void saved.push([rules, scope]) });
  await policy.grant(['run_shell_command(npm test)'], 'session');
  await policy.grant(['web_fetch(example.com)'], 'user');
  expect(policy.judge(shell('npm test')).verdict).toBe('allow');
  expect(policy.judge(fetch('example.com')).verdict).toBe('allow');
  expect(saved).toEqual([[['web_fetch(example.com)'], 'user']]);
  expect(policy.rules().allow).toEqual(['run_shell_command(npm test)', 'web_fetch(example.com)']);
});

test('searches can skip files that may not be read', () => {
  const mayRead = policyOf({ deny: ['read_file(*.pem)', 'run_shell_command(cat)'] }).readFilter();
  expect([mayRead?.('/project/a/key.pem'), mayRead?.('/project/key.pub')]).toEqual([false, true]);
  expect(policyOf({ deny: ['read_file', 'edit(*.pem)'] }).readFilter()).toBeUndefined();
});

// SA16
test('a command may not search a tree with files that may not be read', () => {
  const root = tempDirectory({
    'secrets/plan.txt': '',
    'src/deep/a.ts': '',
    'src/key.pem': '',
    'node_modules/a/b.crt': '',
  });
  symlinkSync(join(root, 'secrets'), join(root, 'src', 'link'));
  const bases = { home: '/home/me', root, cwd: root };
  const verdict = (deny: string, place: string, list: 'deny' | 'ask' = 'deny') =>
    policyOf({ mode: 'yolo', [list]: [deny], bases }).judge(
      call('run_shell_command', {
        confirmation: false,
        targets: [{ type: 'path', access: 'read', path: join(root, place), asks: false, isTree: true }],
      }),
    ).verdict;
  expect(verdict('read_file(/secrets/**)', 'secrets')).toBe('deny');
  expect(verdict('read_file(/secrets/**)', '.')).toBe('deny');
  expect(verdict('read_file(/secrets/**)', '.', 'ask')).toBe('ask');
  expect(verdict('read_file(/secrets/plan.txt)', '.')).toBe('deny');
  expect(verdict('read_file(*.pem)', '.')).toBe('deny');
  expect(verdict('read_file(*.crt)', '.')).toBe('allow');
  expect(verdict('read_file(*.crt)', 'node_modules')).toBe('deny');
  expect(verdict('read_file(/node_modules/a/*.crt)', '.')).toBe('deny');
  expect(verdict('read_file(node_modules)', '.')).toBe('deny');
  expect(verdict('read_file(*.pem)', 'secrets')).toBe('allow');
  expect(verdict('read_file(*.pem)', 'src/deep/a.ts')).toBe('allow');
  expect(verdict('read_file(/secrets/**)', 'src')).toBe('allow');
  expect(verdict('read_file(/missing/**)', '.')).toBe('allow');
  expect(verdict('edit(/secrets/**)', '.')).toBe('allow');
});

test('a list of allowed tools in yolo mode can name the hosts of web_fetch', () => {
  const policy = policyOf({ mode: 'yolo', allowed: ['web_fetch(127.0.0.1:3000)'] });
  const search = { ...fetch('127.0.0.1', 3000), tool: 'web_search' };
  const verdicts = [fetch('127.0.0.1', 3000), fetch('127.0.0.1', 3001), search, shell('ls')].map(
    (judged) => policy.judge(judged).verdict,
  );
  expect(verdicts).toEqual(['allow', 'deny', 'deny', 'deny']);
});

test('a verdict says when no rule could allow the call', () => {
  const guarded = write('/project/.git/config', { guarded: 'hooks' });
  expect(policyOf({ mode: 'yolo' }).judge(guarded)).toEqual({ verdict: 'ask', reason: 'hooks', isGuarded: true });
});
