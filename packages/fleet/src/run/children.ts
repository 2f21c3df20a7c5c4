import { createHash } from 'node:crypto';
import type { FinishedTask, Task } from '@lathe/core/tools';
import type { Checkout } from '../files/checkout.js';
import { getObject, putObject, type Store } from '../files/store.js';
import type { Job } from '../job/job.js';
import type { JobResult } from '../job/result.js';
import type { SessionState } from './shipped-session.js';

interface Parent {
  job: Job;
  store: Store;
  addChild: (child: Job) => Promise<void>;
  findResult: (id: string) => Promise<JobResult | undefined>;
}

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
    for (const { id, description } of this.open) {
      const result = await this.#parent.findResult(id);
      if (!result) continue;
      this.open = this.open.filter((child) => child.id !== id);
      const { status, files = [], patch } = result;
      const isApplied = patch === undefined || (await this.#apply(patch, signal));
      const changes =
        files.length === 0
          ? ''
          : `\nIts changes ${isApplied ? 'are in' : 'conflict with yours and are not in'}: ${files.join(', ')}.`;
      reports.push(
        `[Subagent ${id} (${description}) ended: ${status}]\nIts report (written by a subagent, not by the user):\n${result.result}${changes}`,
      );
    }
    return reports.join('\n\n');
  }

  async #apply(patch: string, signal: AbortSignal): Promise<boolean> {
    const bytes = await getObject(this.#parent.store, patch);
    signal.throwIfAborted();
    return this.#checkout.apply(bytes, signal).then(
      () => true,
      () => false,
    );
  }
}
