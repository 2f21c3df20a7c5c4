import { readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { hasProgram } from '../../../../testing/programs.js';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import type { Approver } from '../contract/call.js';
import { createLathe } from './create-lathe.js';

const never = new AbortController().signal;

/** Everything that makes other commands run unasked. */
const settings = {
  permissions: { allow: ['run_shell_command', 'run_shell_command(touch *)'] },
  tools: { sandbox: { mode: 'auto', autoApprove: true } },
};

/** Calls the shell with `keep` and tells what the person was shown. */
async function keep(mode: string, answer: 'once' | 'always' | 'deny' | 'nobody there') {
  const base = tempDirectory({ 'home/.lathe/settings.json': JSON.stringify(settings), 'app/a.txt': '' });
  const asked: unknown[] = [];
  const approver: Approver = {
    decide: async ({ confirmation }) => {
      asked.push(confirmation);
      return answer === 'always'
        ? { outcome: answer, scope: 'session' }
        : { outcome: answer === 'once' ? answer : 'deny' };
    },
  };
  const env = { HOME: join(base, 'home'), PATH: process.env['PATH'] ?? '' };
  const cwd = join(base, 'app');
  const flags = { 'tools.approvalMode': mode } as const;
  const lathe = await createLathe({ cwd, env, flags, isTrusted: true, ...(answer !== 'nobody there' && { approver }) });
  onTestFinished(async () => {
    for (const { id } of await lathe.host.background.kept.list()) await lathe.host.background.kept.stop(id);
    await lathe.close();
  });
  const args = { command: 'touch kept; sleep 100', is_background: true, keep: true };
  const run = async () => (await lathe.run([{ name: 'run_shell_command', args }], never))[0];
  return { asked, run, files: () => readdirSync(cwd).filter((name) => !name.startsWith('.')), lathe };
}

// SA21
test.each(['default', 'auto-edit', 'yolo'])(
  'in %s mode no rule and no setting keeps a command: a person is asked',
  async (mode) => {
    const { run, asked, files, lathe } = await keep(mode, 'deny');
    expect((await run())?.error?.type).toBe('execution_denied');
    expect(asked).toEqual([
      expect.objectContaining({ warnings: expect.arrayContaining([expect.stringContaining('after Lathe has ended')]) }),
    ]);
    expect(asked[0]).not.toHaveProperty('rules');
    expect(files()).toEqual(['a.txt']);
    expect(lathe.host.background.list()).toEqual([]);
  },
);

test.each(['default', 'yolo', 'plan'])('in %s mode nothing is kept when nobody is there', async (mode) => {
  const { run, files } = await keep(mode, 'nobody there');
  expect((await run())?.error?.type).toBe('execution_denied');
  expect(files()).toEqual(['a.txt']);
});

test('a yes is for this one command: the next is asked about again', async () => {
  const { run, asked, lathe } = await keep('yolo', 'always');
  expect((await run())?.error).toBeUndefined();
  expect((await run())?.error).toBeUndefined();
  expect(asked).toHaveLength(2);
  expect(lathe.host.background.running()).toHaveLength(2);
});

test.skipIf(!hasProgram('bwrap'))('what is kept runs in the sandbox like everything else', async () => {
  const { run, lathe } = await keep('yolo', 'once');
  await run();
  const [command] = lathe.host.background.running();
  const inside = await vi.waitUntil(() => command?.running.mark.processes(0)[0], { timeout: 20_000 });
  expect(readlinkSync(`/proc/${inside}/ns/pid`)).not.toBe(readlinkSync('/proc/self/ns/pid'));
});
