import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { outsideDirectory, tempDirectory } from '../../../../testing/temp-directory.js';
import type { ApprovalRequest } from '../contract/call.js';
import type { Decision } from '../contract/confirmation.js';
import { createLathe } from './create-lathe.js';
import type { LatheOptions } from './lathe.js';

const never = new AbortController().signal;

/** Asks with this answer, and tells what was offered. */
async function open(decision: Decision, flags: LatheOptions['flags'] = {}) {
  const root = tempDirectory({ '.env': 'API_KEY=abcdefgh12345678' });
  mkdirSync(join(root, 'sub'));
  const added = tempDirectory();
  const offered: ApprovalRequest['confirmation'][] = [];
  const lathe = await createLathe({
    cwd: root,
    home: tempDirectory(),
    latheHome: tempDirectory(),
    env: process.env,
    flags: { 'tools.sandbox.mode': 'off', 'context.includeDirectories': [added], ...flags },
    approver: {
      decide: async ({ confirmation }) => {
        offered.push(confirmation);
        return decision;
      },
    },
  });
  onTestFinished(() => lathe.close());
  const run = async (command: string, more: object = {}) => {
    const before = offered.length;
    const [outcome] = await lathe.run([{ id: '1', name: 'run_shell_command', args: { command, ...more } }], never);
    return { asked: offered.length - before, offered: offered.at(-1), outcome };
  };
  return { run, added, root };
}

const always = { outcome: 'always', scope: 'session' } as const;

test('"always" for exactly a command applies to it alone, in its directory and its way to run', async () => {
  const { run, added } = await open(always);
  const command = 'node -e 1 > log.txt';
  expect((await run(command)).offered?.rules).toEqual([`run_shell_command(=${command})`]);
  expect((await run(`  ${command}\n`)).asked).toBe(0);
  for (const [other, more] of [
    [`${command}; node -e 2`, {}],
    [`${command} `.repeat(2), {}],
    ['node -e 1', {}],
    [command, { directory: 'sub' }],
    [command, { directory: added }],
    [command, { is_background: true }],
    // Characters that a program may trim, but a shell takes for a part of the name.
    [`\u00a0${command}`, {}],
    [`\u3000${command}`, {}],
    [`${command}\ufeff`, {}],
    [`${command}\\ `, {}],
  ] as const)
    expect((await run(other, more)).asked).toBe(1);
});

test('a space after a backslash is a part of the command', async () => {
  const { run } = await open(always);
  await run('node -e 1\\ ');
  expect((await run('node -e 1\\')).asked).toBe(1);
  expect((await run('node -e 1\\ ')).asked).toBe(0);
});

test.each([
  ['invisible characters', 'node\u200b -e 1', {}],
  ['characters that reverse the text', 'node -e 1 \u202e', {}],
  ['unusual spaces', 'node\u00a0-e 1', {}],
])('no rule is offered for a command with %s', async (_, command, more) => {
  const { run } = await open(always);
  expect((await run(command, more)).offered?.rules).toBeUndefined();
});

test('the directory of an exact rule cannot contain the command of another', async () => {
  const { run, root } = await open(always);
  mkdirSync(join(root, 'sub] node -e 1 >[x '));
  await run('node -e 1 >[x ] log.txt', { directory: 'sub' });
  expect((await run('log.txt', { directory: 'sub] node -e 1 >[x ' })).asked).toBe(1);
});

test('beside a rule for commands of its kind, a command can be allowed exactly', async () => {
  const { run } = await open({ ...always, isExact: true });
  const { offered } = await run('make all');
  expect(offered).toMatchObject({
    rules: ['run_shell_command(make all *)'],
    exactRules: ['run_shell_command(=make all)'],
  });
  expect((await run('make all')).asked).toBe(0);
  expect((await run('make all -k')).asked).toBe(1);
});

test.each([
  ['a protected file', 'echo x > .envrc', {}],
  ['a kept command', 'node -e 1', { is_background: true, keep: true }],
])('%s is never offered as a rule', async (_, command, more) => {
  const { run } = await open({ outcome: 'deny' });
  const { offered } = await run(command, more);
  expect([offered?.rules, offered?.exactRules]).toEqual([undefined, undefined]);
});

test('a rule that denies exactly a command denies it, also one that only reads', async () => {
  const { run } = await open(always, { 'permissions.deny': ['run_shell_command(=ls)'] });
  expect((await run('ls')).outcome).toMatchObject({ status: 'error', error: { type: 'execution_denied' } });
  expect((await run('ls -a')).outcome?.status).toBe('success');
});

test.each([
  ['go test *', 'go test -exec ./other ./...'],
  ['go test *', 'go test --toolexec=./other ./...'],
  ['cargo test *', `cargo test --config 'build.rustc-wrapper="./other"'`],
  ['npm test *', 'npm test --script-shell=./other'],
  ['npm test *', 'npm test --script-sh ./other'],
  ['just test *', 'just test --shell ./other'],
  ['pytest *', 'pytest --junitxml=OUTSIDE/x'],
  ['npx eslint *', 'npx eslint -o OUTSIDE/x .'],
  ['make test *', 'make test -f OUTSIDE/x.mk'],
])('without a sandbox a rule for %s does not allow %s', async (rule, command) => {
  const { run } = await open({ outcome: 'deny' }, { 'permissions.allow': [`run_shell_command(${rule})`] });
  expect((await run(command.replace('OUTSIDE', outsideDirectory()))).asked).toBe(1);
  expect((await run(`${rule.replace(' *', '')} --unknown-flag src/a.ts`)).asked).toBe(0);
});
