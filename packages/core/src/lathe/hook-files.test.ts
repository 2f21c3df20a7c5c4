import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { hasProgram } from '../../../../testing/programs.js';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { LatheHome } from '../files/lathe-home.js';
import { FolderTrust } from '../policy/folder-trust.js';
import { createLathe } from './create-lathe.js';

const never = new AbortController().signal;
const settings = JSON.stringify({
  hooks: {
    Stop: [
      {
        hooks: [
          { type: 'command', command: './check.sh' },
          { type: 'command', command: 'sh "$CLAUDE_PROJECT_DIR/late.sh"' },
          { type: 'command', command: 'sh bare && cd tools && ./inner.sh && prettier --check src/' },
          { type: 'command', command: 'linked/far.sh && linked/missing.sh' },
        ],
      },
    ],
  },
});

async function open(mode: 'auto-edit' | 'yolo', directory = 'app') {
  const base = tempDirectory({
    'app/.lathe/settings.json': settings,
    'app/check.sh': '#!/bin/sh\nexit 0\n',
    'app/bare': 'exit 0\n',
    'app/tools/inner.sh': 'exit 0\n',
    'app/src/a.txt': 'a\n',
    'app/real/far.sh': 'exit 0\n',
    'home/x': '',
  });
  const [cwd, home] = [join(base, directory), join(base, 'home')];
  symlinkSync('between', join(base, 'app/linked'));
  symlinkSync('real', join(base, 'app/between'));
  symlinkSync('app', join(base, 'link-to-app'));
  await new FolderTrust(new LatheHome(join(home, '.lathe'))).trust(cwd);
  const asked: string[] = [];
  const reopen = async () => {
    const lathe = await createLathe({
      cwd,
      home,
      env: { ...process.env, HOME: home },
      flags: { 'tools.approvalMode': mode },
      caller: 'person',
      approver: {
        decide: async ({ tool, reason }) => {
          asked.push(`${tool}: ${reason}`);
          return { outcome: tool === 'hook' ? 'once' : 'deny' };
        },
      },
    });
    onTestFinished(() => lathe.close());
    return lathe;
  };
  return { cwd, asked, reopen, lathe: await reopen() };
}

test.each(['auto-edit', 'yolo'] as const)('in %s mode a file that a hook runs is not changed unasked', async (mode) => {
  const { cwd, lathe, asked } = await open(mode);
  asked.length = 0;
  const write = (name: string) => ({ name: 'write_file', args: { file_path: join(cwd, name), content: 'evil' } });
  const run = ['check.sh', 'late.sh', 'bare', 'tools/inner.sh'];
  const outcomes = await lathe.run([...run, 'other.sh', 'src/a.txt'].map(write), never);
  expect(outcomes.map(({ status }) => status)).toEqual([...run.map(() => 'cancelled'), 'success', 'success']);
  expect(asked).toEqual(run.map((name) => `write_file: a hook runs ${join(cwd, name)}, or git obeys it`));
});

test.skipIf(!hasProgram('bwrap'))('a command in the sandbox does not change it either', async () => {
  const { cwd, lathe } = await open('yolo');
  const names = ['check.sh', 'bare', 'tools/inner.sh'];
  const before = names.map((name) => readFileSync(join(cwd, name), 'utf8'));
  const writes = [...names, 'late.sh', 'src/a.txt'].map((name) => `echo evil > ${name}`).join('; ');
  writeFileSync(join(cwd, 'x'), `${writes}; mv check.sh gone; mv tools old; mkdir tools; echo evil > tools/inner.sh`);
  await lathe.run([{ name: 'run_shell_command', args: { command: 'bash x' } }], never);
  expect(names.map((name) => readFileSync(join(cwd, name), 'utf8'))).toEqual(before);
  expect(existsSync(join(cwd, 'late.sh'))).toBe(false);
  expect(readFileSync(join(cwd, 'src/a.txt'), 'utf8')).toBe('evil\n');
});

test.skipIf(!hasProgram('bwrap')).each([
  ['writes beyond the symlink', 'echo evil > real/far.sh'],
  ['replaces the symlink', 'rm linked; mkdir linked; echo evil > linked/far.sh'],
  ['replaces the symlink behind it', 'ln -sfn src between; echo evil > src/far.sh'],
  ['creates a missing file', 'echo evil > real/missing.sh'],
])('nor one to which a symlink leads: a command that %s', async (_, command) => {
  const { cwd, lathe } = await open('yolo');
  writeFileSync(join(cwd, 'x'), command);
  await lathe.run([{ name: 'run_shell_command', args: { command: 'bash x' } }], never);
  expect(readFileSync(join(cwd, 'linked/far.sh'), 'utf8')).toBe('exit 0\n');
  expect(existsSync(join(cwd, 'linked/missing.sh'))).toBe(false);
});

test.skipIf(!hasProgram('bwrap'))('nor where a symlink leads to the workspace', async () => {
  const { cwd, lathe } = await open('yolo', 'link-to-app');
  writeFileSync(join(cwd, 'x'), 'echo evil > check.sh; echo evil > late.sh');
  await lathe.run([{ name: 'run_shell_command', args: { command: 'bash x' } }], never);
  expect(readFileSync(join(cwd, 'check.sh'), 'utf8')).toBe('#!/bin/sh\nexit 0\n');
  expect(existsSync(join(cwd, 'late.sh'))).toBe(false);
});

test('agreement to hooks applies to the content of the files they run', async () => {
  const { cwd, asked, reopen } = await open('auto-edit');
  const hooks = () => asked.filter((question) => question.startsWith('hook:')).length;
  expect(hooks()).toBe(1);
  await reopen();
  expect(hooks()).toBe(1);
  writeFileSync(join(cwd, 'check.sh'), '#!/bin/sh\nexit 1\n');
  await reopen();
  expect(hooks()).toBe(2);
});
