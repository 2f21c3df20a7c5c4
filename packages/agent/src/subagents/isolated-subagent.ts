import type { Lathe, LatheHost } from '@lathe/core';
import { type Approver, ToolRegistry } from '@lathe/core';
import type { Agent } from '../loop/agent.js';
import type { ApplyRunner, MergeOutcome, Worktree } from '../worktrees/worktree.js';
import { openWorktree } from '../worktrees/worktrees.js';
import { ConcurrencyLimit } from './concurrency-limit.js';
import type { OpenedSubagent } from './subagents.js';

type Applying = Pick<LatheHost, 'openScheduler'>;
type Origin<L> = Applying &
  Pick<Lathe, 'workspace'> &
  Pick<LatheHost, 'home' | 'rewind'> & { openIn(worktree: Worktree): Promise<L> };

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
  const { home, rewind, workspace } = origin;
  const worktree = await openWorktree({ home, rewind, root: workspace.root }, { kind: 'task' }, signal);
  let inner: L | undefined;
  const close = async () => {
    await inner?.close();
    await worktree.remove();
  };
  try {
    inner = await origin.openIn(worktree);
    const agent = await open(inner);
    const by = `the subagent ${name}`;
    const run = applyRunner(origin, { approver, ...(beforeChange && { beforeChange }) }, signal);
    const bringBack = async (problem: string | undefined) => {
      if (problem !== undefined) return unfinished((await worktree.changes(signal)).patch);
      return describeMerge(await applying.run(signal, () => worktree.merge({ by, workspace, run }, signal)));
    };
    return { agent, bringBack, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Runs the tool that applies changes like any call: under the rules, with the question and the journal of a session. */
export function applyRunner(
  { openScheduler }: Applying,
  options: Parameters<LatheHost['openScheduler']>[0],
  signal: AbortSignal,
): ApplyRunner {
  return async (tool) => {
    const registry = new ToolRegistry();
    registry.registerTool(tool);
    const [outcome] = await openScheduler({ ...options, registry }).run([{ name: tool.name, args: {} }], signal);
    signal.throwIfAborted();
    if (!outcome) throw new Error('the scheduler returned no outcome');
    return outcome;
  };
}

function unfinished(patch: string): string {
  return patch === '' ? '' : `It did not finish, so its changes were not applied:\n${patch}`;
}

/** What became of the changes, for the agent that asked for them. */
export function describeMerge({ applied, conflicts, refusal, rest, leftOut }: MergeOutcome): string {
  const lines = [
    ...(applied.length > 0 ? [`The changes were applied to: ${applied.join(', ')}.`] : []),
    ...(refusal === undefined ? [] : [`The changes were not applied: ${refusal}`]),
    ...(conflicts.length > 0
      ? [`Conflict, not applied, because you or others changed the same lines: ${conflicts.join(', ')}.`]
      : []),
    ...(leftOut.length > 0 ? [`Not brought back, because too large or not readable: ${leftOut.join(', ')}.`] : []),
    ...(rest === '' ? [] : ['What was not applied:', rest]),
  ];
  return lines.join('\n') || 'It changed no files.';
}
