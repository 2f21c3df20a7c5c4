import { execFile } from 'node:child_process';
import { describeMerge, openWorktree, type TaskResult } from '@lathe/agent';
import { visibleText } from '@lathe/core/host';
import type { Flags } from '../command-line/args.js';
import { exitCodes } from '../command-line/exit-codes.js';
import type { Io } from '../command-line/io.js';
import { openLathe } from '../startup/open-lathe.js';
import { terminalApprover } from '../terminal/terminal-approver.js';

/** Applies the changes of tasks to the repository in the current directory, with the usual question and journal. */
export async function applyResults(
  results: readonly TaskResult[],
  { flags, io }: { flags: Flags; io: Io },
  signal: AbortSignal,
): Promise<number> {
  const lathe = await openLathe(flags, io, io.isInteractive ? { approver: terminalApprover(io) } : {});
  let code: number = exitCodes.success;
  try {
    for (const { id, patch } of results) {
      const say = (text: string) => io.err(visibleText(`lathe: ${id}: ${text}`));
      if (patch === undefined) {
        say('changed no files');
        continue;
      }
      const worktree = await openWorktree(lathe, { kind: 'task' }, signal);
      try {
        const problem = await gitApply(worktree.origin.copyTop, patch, signal);
        if (problem !== undefined) {
          say(`its changes do not fit the files here: ${problem}`);
          code = exitCodes.failure;
          continue;
        }
        const outcome = await worktree.merge({ by: `the task ${id}`, into: lathe }, signal);
        say(describeMerge({ ...outcome, rest: '' }));
        if (outcome.refusal !== undefined) code = exitCodes.denied;
        else if (outcome.conflicts.length > 0) code = exitCodes.failure;
      } finally {
        await worktree.remove();
      }
    }
  } finally {
    await lathe.close();
  }
  return code;
}

/** Applies a patch to a copy of the files, which nobody else uses. Returns why it cannot be applied. */
function gitApply(cwd: string, patch: string, signal: AbortSignal): Promise<string | undefined> {
  return new Promise((resolve) => {
    const child = execFile(
      'git',
      ['apply', '--binary', '--whitespace=nowarn', '-'],
      { cwd, signal },
      (error, _, stderr) => resolve(error ? stderr.trim().split('\n')[0] || error.message : undefined),
    );
    child.stdin?.end(patch);
  });
}
