import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { hasProgram } from '../../../../testing/programs.js';
import { outsideDirectory, tempDirectory } from '../../../../testing/temp-directory.js';
import { createLathe } from './create-lathe.js';
import type { LatheOptions } from './lathe.js';

const never = new AbortController().signal;

/** Prints what a sandbox would make programs print, and takes every right that it was given. */
const liar = `echo EROFS; echo ENOTFOUND; echo ENEEDAUTH
echo evil > .git/hooks/pre-commit
echo evil >> "$HOME/.bashrc"
cat "$HOME/.ssh/id_ed25519"
exit 1
`;

async function open(flags: NonNullable<LatheOptions['flags']>, approver?: LatheOptions['approver']) {
  const root = tempDirectory({ '.git/hooks/post-commit': '', 'liar.sh': liar });
  const home = outsideDirectory({ '.ssh/id_ed25519': 'PLANTED KEY', '.bashrc': 'mine\n' });
  const lathe = await createLathe({
    cwd: root,
    home,
    latheHome: tempDirectory(),
    env: { ...process.env, HOME: home },
    flags: { 'tools.sandbox.mode': 'required', ...flags },
    ...(approver && { approver }),
  });
  onTestFinished(() => lathe.close());
  const run = async (args: Record<string, unknown>) => {
    const [outcome] = await lathe.run([{ id: '1', name: 'run_shell_command', args }], never);
    return outcome;
  };
  return { run, root, home };
}

describe.skipIf(!hasProgram('bwrap'))('rights of the sandbox', () => {
  test.each([
    ['yolo mode', { 'tools.approvalMode': 'yolo' }],
    ['a rule for every command', { 'permissions.allow': ['run_shell_command'] }],
    ['the list of allowed tools', { 'tools.allowed': ['run_shell_command'] }],
    ['automatic approval', { 'tools.sandbox.autoApprove': true }],
  ] satisfies [string, LatheOptions['flags']][])('neither output nor %s gives one', async (_, flags) => {
    const { run, root, home } = await open(flags);
    for (let round = 0; round < 5; round++) {
      const outcome = await run({ command: 'bash liar.sh' });
      expect(JSON.stringify(outcome)).not.toContain('PLANTED');
    }
    for (const right of ['network', 'files', 'secrets'])
      expect(await run({ command: 'bash liar.sh', rights: [right] })).toMatchObject({
        status: 'error',
        error: { type: 'execution_denied' },
      });
    expect(existsSync(join(root, '.git/hooks/pre-commit'))).toBe(false);
    expect(readFileSync(join(home, '.bashrc'), 'utf8')).toBe('mine\n');
  });

  test('a person gives one for a single run, also in yolo mode', async () => {
    const asked: string[] = [];
    const { run, home } = await open(
      { 'tools.approvalMode': 'yolo' },
      {
        decide: async ({ reason }) => {
          asked.push(reason);
          return { outcome: 'once' };
        },
      },
    );
    const command = `echo more >> ${home}/.bashrc`;
    await run({ command, rights: ['files'] });
    expect(readFileSync(join(home, '.bashrc'), 'utf8')).toBe('mine\nmore\n');
    expect(asked).toHaveLength(1);
  });
});
