import type { Approver, Lathe } from '@lathe/core';
import { thrownText } from '@lathe/core/host';
import type { Agent } from '../loop/agent.js';
import type { Merge, MergeOutcome, Worktree } from '../worktrees/worktree.js';
import { openWorktree, type WorktreePlace } from '../worktrees/worktrees.js';
import { ConcurrencyLimit } from './concurrency-limit.js';
import type { OpenedSubagent } from './subagents.js';

type Origin<L> = WorktreePlace & Merge['into'] & { openIn(worktree: Worktree): Promise<L> };

export interface Isolation<L> {
  /** Who works there, for questions. */
  name: string;
  /** Answers the question about the changes. */
  approver: Approver;
  /** Runs before the changes are made. */
  beforeChange: ((signal: AbortSignal) => Promise<void>) | undefined;
  /** Opens the agent that works in the worktree. */
  open: (inner: L) => Promise<Agent>;
}

/** One after the other, so that each set of changes is merged with those before it. */
const applying = new ConcurrencyLimit(1);

/** Opens a subagent in a worktree of its own. */
export async function isolate<L extends Pick<Lathe, 'close'>>(
  origin: Origin<L>,
  { name, approver, beforeChange, open }: Isolation<L>,
  signal: AbortSignal,
): Promise<OpenedSubagent> {
  const worktree = await openWorktree(origin, { kind: 'task' }, signal);
  let inner: L | undefined;
  const close = async () => {
    try {
      await inner?.close();
    } finally {
      await worktree.remove();
    }
  };
  try {
    inner = await origin.openIn(worktree);
    const agent = await open(inner);
    const asking = { approver, ...(beforeChange && { beforeChange }) };
    const merge = { by: `the subagent ${name}`, into: origin, asking };
    const bringBack = async (problem: string | undefined) => {
      let left = 'It did not finish, so its changes were not applied';
      try {
        if (problem === undefined)
          return describeMerge(await applying.run(signal, () => worktree.merge(merge, signal)));
      } catch (error) {
        left = `Not all of its changes were applied, because of an error or a stop (${thrownText(error)})`;
      }
      // Also after an abort: nobody else has them.
      const { patch } = await worktree.changes(new AbortController().signal);
      return patch === '' ? '' : `${left}:\n${patch}`;
    };
    return { agent, bringBack, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** What became of the changes, for the agent that asked for them. */
export function describeMerge({ applied, conflicts, refusal, rest, leftOut }: MergeOutcome): string {
  const lines = [
    ...listed('The changes were applied to', applied),
    ...(refusal === undefined ? [] : [`The changes were not applied: ${refusal}`]),
    ...listed('Conflict, not applied, because you or others changed the same lines', conflicts),
    ...listed('Not brought back, because too large or not readable', leftOut),
    ...(rest === '' ? [] : ['What was not applied:', rest]),
  ];
  return lines.join('\n') || 'It changed no files.';
}

function listed(what: string, paths: readonly string[]): string[] {
  return paths.length > 0 ? [`${what}: ${paths.join(', ')}.`] : [];
}
