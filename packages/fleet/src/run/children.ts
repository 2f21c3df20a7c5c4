import { createHash } from 'node:crypto';
import type { FinishedTask, Task } from '@lathe/core/tools';
import type { Checkout } from '../files/checkout.js';
import { getObject, putObject } from '../files/store.js';
import type { Run } from './run.js';
import type { SessionState } from './shipped-session.js';

type Parent = Pick<Run, 'job' | 'store' | 'addChild' | 'findResults'>;

/** The subagents of a job that are jobs of their own. They start from the files of their parent as they are then. */
export class Children {
  readonly #parent: Parent;
  readonly #checkout: Checkout;
  /** Those whose results the job has not seen. */
  open: SessionState['children'];

  constructor(parent: Parent, checkout: Checkout, open: SessionState['children'] = []) {
    this.#parent = parent;
    this.#checkout = checkout;
    this.open = open;
  }

  /** Puts the work of a subagent into the queue, under at most the rights of its parent. */
  async start({ description, prompt, subagent_type }: Task, signal: AbortSignal): Promise<FinishedTask> {
    const { job, store, addChild } = this.#parent;
    // A parent that is taken over and asks for the same work gets the same child.
    const id = `${job.id}+${createHash('sha256').update(prompt).digest('hex').slice(0, 8)}`;
    const { patch } = await this.#checkout.changes(signal);
    const patches = [...(job.patches ?? []), ...(patch.length > 0 ? [await putObject(store, patch)] : [])];
    await addChild({ ...job, id, prompt, parent: job.id, ...(patches.length > 0 && { patches }) });
    if (this.open.every((child) => child.id !== id)) this.open = [...this.open, { id, description }];
    const shown = { subagentName: subagent_type, taskDescription: description, taskPrompt: prompt };
    return { display: { type: 'task_execution', ...shown, status: 'running', toolCalls: [] }, id };
  }

  /** What the children that have ended report, with their changes applied to the files of this job. */
  async takeReports(signal: AbortSignal): Promise<string> {
    const reports: string[] = [];
    const ended = this.open.length > 0 ? await this.#parent.findResults(this.open.map(({ id }) => id)) : [];
    for (const { id, status, files = [], patch, result } of ended) {
      const description = this.open.find((child) => child.id === id)?.description;
      this.open = this.open.filter((child) => child.id !== id);
      let changes = '';
      if (patch !== undefined) {
        const bytes = await getObject(this.#parent.store, patch);
        const isConflict = (await this.#checkout.apply(bytes, signal).catch(() => true)) === true;
        changes = `\nIts changes ${isConflict ? 'conflict with yours and are not in' : 'are in'}: ${files.join(', ')}.`;
      }
      reports.push(
        `[Subagent ${id} (${description}) ended: ${status}]\nIts report (written by a subagent, not by the user):\n${result}${changes}`,
      );
    }
    signal.throwIfAborted();
    return reports.join('\n\n');
  }
}
