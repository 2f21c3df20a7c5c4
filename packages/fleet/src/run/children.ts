import { hash } from 'node:crypto';
import { redact } from '@lathe/core/host';
import type { FinishedTask, Task } from '@lathe/core/tools';
import { getObject } from '../files/store.js';
import { storeChanges, type Work } from './shipped-session.js';

type Parent = Pick<Work, 'job' | 'store' | 'checkout' | 'secrets' | 'addChild' | 'findResults' | 'state'>;

/**
 * Puts the work of a subagent into the queue, as a job of its own under at most the rights of its parent. It starts from
 * the files of its parent as they are now.
 */
export async function startChild(parent: Parent, task: Task, signal: AbortSignal): Promise<FinishedTask> {
  const { job, secrets, state, addChild } = parent;
  const prompt = redact(task.prompt, secrets);
  const description = redact(task.description, secrets);
  // A parent that is taken over and asks for the same work gets the same child.
  const id = `${job.id}+${hash('sha256', prompt).slice(0, 8)}`;
  const { patch } = await storeChanges(parent, signal);
  const patches = [...(job.patches ?? []), ...(patch === undefined ? [] : [patch])];
  await addChild({ ...job, id, prompt, patches, parent: job.id });
  if (state.children.every((child) => child.id !== id)) state.children.push({ id, description });
  const shown = { subagentName: task.subagent_type, taskDescription: description, taskPrompt: prompt };
  return { display: { type: 'task_execution', ...shown, status: 'running', toolCalls: [] }, id };
}

/** What the children that have ended report, with their changes applied to the files of this job. */
export async function takeReports(parent: Parent, signal: AbortSignal): Promise<string> {
  const { checkout, store, state, findResults } = parent;
  const reports: string[] = [];
  const ended = state.children.length > 0 ? await findResults(state.children.map(({ id }) => id)) : [];
  for (const { id, status, files = [], patch, result, worker } of ended) {
    const description = state.children.find((child) => child.id === id)?.description;
    state.children = state.children.filter((child) => child.id !== id);
    let changes = '';
    if (patch !== undefined) {
      const bytes = await getObject(store, patch);
      const isConflict = (await checkout.apply(bytes, signal).catch(() => true)) === true;
      changes = `\nIts changes ${isConflict ? 'conflict with yours and are not in' : 'are in'}: ${files.join(', ')}.`;
    }
    // Without a worker that signed it, the text is only what the queue says.
    const report = worker === undefined ? 'none' : `(written by a subagent, not by the user)\n${result}`;
    reports.push(`[Subagent ${id} (${description}) ended: ${status}]\nIts report: ${report}${changes}`);
  }
  signal.throwIfAborted();
  return reports.join('\n\n');
}
