import { resolve } from 'node:path';
import type { LatheOptions } from '@lathe/core';
import { thrownText } from '@lathe/core/host';
import { type AgentLathe, createAgentLathe } from '../create-agent-lathe.js';
import type { PromptEnd } from '../loop/agent-event.js';
import { noUsage } from '../loop/budget.js';
import { chooseModel } from '../models/choose/choose-model.js';
import type { Model, Usage } from '../models/model.js';
import { ModelError } from '../models/model-error.js';
import { openSession, type Session } from '../open-session.js';
import { openWorktree } from '../worktrees/worktrees.js';
import type { TaskLine } from './read-tasks.js';

/** One line of a results file. */
export interface TaskResult {
  id: string;
  status: 'success' | 'error' | 'cancelled';
  /** The last answer, or what went wrong. */
  result: string;
  /** What the task changed, for `git apply`; missing when it changed nothing. */
  patch?: string;
  usage: Usage;
  /** For `lathe view`; empty when the work did not begin. */
  sessionId: string;
}

/** Where and how tasks run. */
export interface RunTaskOptions extends Omit<LatheOptions, 'extend' | 'worktree' | 'cwd'> {
  /** Tasks without a directory of their own work here, and relative ones start here. */
  cwd: string;
  /** Replaces the model of the settings and of the task. */
  model?: Model;
  /** Keeps the result, before anything is cleaned up: from then on the task has run. */
  onResult?: (result: TaskResult) => Promise<void>;
}

/**
 * Runs one task to its end, in a worktree of its repository that is removed afterwards. Nobody can answer questions: what needs
 * approval is denied. Rejects only if `onResult` does; the repository is left as it is.
 */
export async function runTask(task: TaskLine, options: RunTaskOptions, signal: AbortSignal): Promise<TaskResult> {
  const { model, cwd, onResult, ...rest } = options;
  const flags = {
    ...rest.flags,
    ...(task.mode && { 'tools.approvalMode': task.mode }),
    ...(task.model !== undefined && { 'model.name': task.model }),
  };
  let kept: TaskResult | undefined;
  const settle = async (result: TaskResult) => {
    await onResult?.(result);
    kept = result;
  };
  try {
    signal.throwIfAborted();
    const lathe = await createAgentLathe({ ...rest, flags, cwd: resolve(cwd, task.cwd ?? '.') });
    try {
      await inWorktree(task, { lathe, given: model, settle }, signal);
    } finally {
      await lathe.close();
    }
  } catch (error) {
    // What fails after the result is cleaning up, which the next start does.
    if (!kept) await settle(failure(task, error, signal));
  }
  return kept ?? failure(task, 'no result', signal);
}

function failure({ id }: TaskLine, error: unknown, { aborted }: AbortSignal): TaskResult {
  return { id, status: aborted ? 'cancelled' : 'error', result: thrownText(error), usage: noUsage, sessionId: '' };
}

interface Place {
  lathe: AgentLathe;
  given: Model | undefined;
  settle: (result: TaskResult) => Promise<void>;
}

/** Works on the task in a copy of the repository, and settles its result before the copy is removed. */
async function inWorktree(
  { id, prompt }: TaskLine,
  { lathe, given, settle }: Place,
  signal: AbortSignal,
): Promise<void> {
  const worktree = await openWorktree(lathe, { kind: 'task' }, signal);
  try {
    const inner = await lathe.openIn(worktree);
    try {
      const model = given ?? (await modelOf(inner, signal));
      const session = await openSession(inner, { model, takesSnapshots: false });
      const { end, notes } = await endOf(session, prompt, signal);
      const { patch, leftOut } = await worktree.changes(signal);
      const isDone = end.reason === 'done';
      if (leftOut.length > 0) notes.add(`Not in the patch, because too large: ${leftOut.join(', ')}`);
      await settle({
        id,
        status: isDone ? 'success' : end.reason === 'aborted' ? 'cancelled' : 'error',
        result: [isDone ? end.text : (end.message ?? end.reason), ...[...notes].map((note) => `[${note}]`)].join('\n'),
        ...(patch !== '' && { patch }),
        usage: end.usage,
        sessionId: session.id,
      });
    } finally {
      await inner.close();
    }
  } finally {
    await worktree.remove();
  }
}

/** Works on one prompt, and closes the session. `notes` says which calls were denied, and why. */
async function endOf(session: Session, prompt: string, signal: AbortSignal) {
  const notes = new Set<string>();
  try {
    let end: PromptEnd | undefined;
    for await (const event of session.prompt(prompt, signal)) {
      if (event.type === 'prompt-end') ({ end } = event);
      const error = event.type === 'call-end' ? event.outcome.error : undefined;
      if (error?.type === 'execution_denied') notes.add(error.message);
    }
    if (!end) throw new Error('the agent sent no prompt-end event');
    return { end, notes };
  } finally {
    await session.close();
  }
}

/** The model of the settings. Throws a `ModelError` that says what is missing. */
export async function modelOf({ settings, loaded, home }: AgentLathe, signal: AbortSignal): Promise<Model> {
  const choice = await chooseModel({ settings: settings.model, env: loaded.env, home: home.path }, signal);
  if (choice.status === 'chosen') return choice.model;
  throw new ModelError('not-found', choice.setup.problem);
}
