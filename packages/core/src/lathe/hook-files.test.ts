import { existsSync, readFileSync, writeFileSync } from 'node:fs';
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
        ],
      },
    ],
  },
});

async function open(mode: 'auto-edit' | 'yolo') {
  const base = tempDirectory({
    'app/.lathe/settings.json': settings,
    'app/check.sh': '#!/bin/sh\nexit 0\n',
    'home/x': '',
  });
  const [cwd, home] = [join(base, 'app'), join(base, 'home')];
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
  const outcomes = await lathe.run([write('check.sh'), write('late.sh'), write('other.sh')], never);
  expect(outcomes.map(({ status }) => status)).toEqual(['cancelled', 'cancelled', 'success']);
  expect(asked).toEqual([
    `write_file: ${join(cwd, 'check.sh')} is run by a hook`,
    `write_file: ${join(cwd, 'late.sh')} is run by a hook`,
  ]);
});

test.skipIf(!hasProgram('bwrap'))('a command in the sandbox does not change it either', async () => {
  const { cwd, lathe } = await open('yolo');
  const command = 'sh -c "echo evil > check.sh; echo evil > late.sh; mv check.sh gone; true"';
  await lathe.run([{ name: 'run_shell_command', args: { command } }], never);
  expect(readFileSync(join(cwd, 'check.sh'), 'utf8')).toBe('#!/bin/sh\nexit 0\n');
  expect(existsSync(join(cwd, 'late.sh'))).toBe(false);
});

test('agreement to hooks holds for the content of the files they run', async () => {
  const { cwd, asked, reopen } = await open('auto-edit');
  const hooks = () => asked.filter((question) => question.startsWith('hook:')).length;
  expect(hooks()).toBe(1);
  await reopen();
  expect(hooks()).toBe(1);
  writeFileSync(join(cwd, 'check.sh'), '#!/bin/sh\nexit 1\n');
  await reopen();
  expect(hooks()).toBe(2);
});
