import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { createAgentLathe } from '../../packages/agent/src/create-agent-lathe.js';
import { openWorktree } from '../../packages/agent/src/worktrees/worktrees.js';

/** `open-worktrees ROOT HOME`: opens, changes and removes worktrees without end, three at a time. */
async function main(): Promise<void> {
  const [cwd = '', home = ''] = process.argv.slice(2);
  const { signal } = new AbortController();
  const lathe = await createAgentLathe({ cwd, env: { PATH: process.env['PATH'] }, home });
  const work = async () => {
    while (true) {
      const worktree = await openWorktree(lathe, { kind: 'task' }, signal);
      appendFileSync(join(worktree.cwd, 'd0/f0.txt'), 'more\n');
      await worktree.changes(signal);
      await worktree.remove();
    }
  };
  process.stdout.write('ready\n');
  await Promise.all([work(), work(), work()]);
}

void main();
