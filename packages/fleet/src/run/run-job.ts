import { type AgentLathe, budgetsLeft, createAgentLathe, modelOf, openSession, SessionStore } from '@lathe/agent';
import { ModelError } from '@lathe/agent/models';
import type { ApprovalMode } from '@lathe/core';
import { redact, secretsOf } from '@lathe/core/host';
import { checkOut } from '../files/checkout.js';
import type { Job } from '../job/job.js';
import { type JobResult, newResult } from '../job/result.js';
import { startChild, takeReports } from './children.js';
import { closeQuestions, FleetApprover } from './questions.js';
import type { JobHost, Run } from './run.js';
import { KeyInChanges, loadShippedSession, SessionShipper, type ShippedSession, type Work } from './shipped-session.js';
import { follow } from './spending.js';

/** `parked` waits for an answer, `waiting` for its children; both have freed their worker. */
export type JobEnd =
  | { status: 'ended'; result: JobResult }
  | { status: 'parked'; isAnswered: () => Promise<boolean> }
  | { status: 'waiting' };

const modes: readonly ApprovalMode[] = ['plan', 'default', 'auto-edit', 'yolo'];

/** Throws when the job wants more than this worker gives. */
export function assertPermitted({ mode, expires }: Job, { maxMode }: Pick<JobHost, 'maxMode'>): void {
  if (Date.now() > expires) throw new Error('the job has expired');
  if (mode !== undefined && modes.indexOf(mode) > modes.indexOf(maxMode))
    throw new Error(`the job wants the mode ${mode}, but this worker runs at most ${maxMode}`);
}

/** Runs one task, from where an earlier worker left it. Throws only when the worker itself has a problem. */
export async function runJob(run: Run, signal: AbortSignal): Promise<JobEnd> {
  const checkout = await checkOut(run, signal);
  try {
    const earlier = await loadShippedSession(run);
    if (earlier?.changes) await checkout.apply(earlier.changes, signal);
    const state = earlier ?? { children: [], asked: {}, answers: [] };
    return await doWork({ ...run, checkout, earlier, state }, signal);
  } finally {
    await checkout.remove();
  }
}

async function doWork(work: Work, signal: AbortSignal): Promise<JobEnd> {
  const { job, key, board, name: worker, earlier, state } = work;
  const startedAt = performance.now();
  const parked = new AbortController();
  const lathe = await openLathe(work);
  // The settings may have changed since the worker started.
  work.secrets = secretsOf(lathe.loaded);
  const end = (status: JobResult['status'], text: string, more: Partial<JobResult> = {}): JobEnd => {
    const durationMs = Math.round(performance.now() - startedAt);
    const result = newResult(job, { status, result: redact(text, work.secrets), worker, durationMs, ...more });
    return { status: 'ended', result };
  };
  try {
    const approver = new FleetApprover(work, () => parked.abort());
    const session = await openSession(lathe, {
      model: await modelOf(lathe, signal),
      approver,
      ...(await beginning(lathe, work)),
      takesSnapshots: false,
      // What was sent before a call says that it may have run, so that it never runs again by itself.
      beforeChange: async () => {
        await shipper.ship();
        await work.assertOwned();
      },
    });
    const shipper = new SessionShipper({ ...work, session });
    const reports = await takeReports(work, signal);
    const prompt = earlier ? promptOnReturn(work.checkout.directory, earlier, reports) : job.prompt;
    const start = (overspent: AbortSignal) =>
      session.prompt(prompt, AbortSignal.any([signal, parked.signal, overspent]));
    const ended = await follow(work, start, async () => {
      await shipper.keepChanges(signal);
      await shipper.ship();
    });
    await session.close();
    signal.throwIfAborted();
    await shipper.keepChanges(signal);
    const isParked = parked.signal.aborted;
    if (isParked || (ended.reason === 'done' && state.children.length > 0)) {
      await shipper.ship();
      return isParked ? { status: 'parked', isAnswered: () => approver.isAnswered() } : { status: 'waiting' };
    }
    await closeQuestions(board, key);
    const text = ended.reason === 'done' ? ended.text : (ended.message ?? ended.reason);
    return end(ended.reason === 'done' ? 'success' : 'error', text, shipper.facts());
  } catch (error) {
    if (error instanceof KeyInChanges || error instanceof ModelError) return end('error', error.message);
    throw error;
  } finally {
    await lathe.close();
  }
}

/** What a session may spend, and where it goes on. */
async function beginning({ home, workspace }: AgentLathe, { job: { budgets = {} }, earlier }: Work) {
  if (!earlier) return { budgets };
  await (await SessionStore.open(home, workspace.root)).adopt(earlier.sessionId, earlier.transcript);
  return { budgets: budgetsLeft(budgets, earlier.spent), resume: { id: earlier.sessionId } };
}

function promptOnReturn(directory: string, { asked }: ShippedSession, reports: string): string {
  if (reports !== '') return `Working directory: ${directory}.\n${reports}`;
  const waited =
    Object.keys(asked).length > 0
      ? 'A call waited for an approval. Make the same call again if it is still needed; the answer is known then.'
      : 'Calls that were running when it stopped did not run again: look at what is there, then finish the task.';
  return `The work was interrupted and continues now. Working directory: ${directory}. ${waited}`;
}

function openLathe(work: Work): Promise<AgentLathe> {
  const { job, env, home, latheHome, sandbox, maxMode, checkout } = work;
  const { deny = [], ask = [] } = job.rules ?? {};
  return createAgentLathe({
    cwd: checkout.directory,
    env,
    home,
    latheHome,
    isTrusted: false,
    ...(job.flows && job.parent === undefined && { runTask: (task, signal) => startChild(work, task, signal) }),
    flags: {
      'tools.approvalMode': job.mode ?? (maxMode === 'plan' ? 'plan' : 'default'),
      'tools.sandbox.mode': sandbox,
      ...(job.model !== undefined && { 'model.name': job.model }),
      ...(deny.length > 0 && { 'permissions.deny': deny }),
      ...(ask.length > 0 && { 'permissions.ask': ask }),
    },
  });
}
