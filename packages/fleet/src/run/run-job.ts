import { type AgentLathe, budgetsLeft, createAgentLathe, modelOf, openSession, SessionStore } from '@lathe/agent';
import { ModelError } from '@lathe/agent/models';
import type { ApprovalMode } from '@lathe/core';
import { redact, secretsOf } from '@lathe/core/host';
import { type Checkout, checkOut } from '../files/checkout.js';
import type { Job } from '../job/job.js';
import { type JobResult, newResult } from '../job/result.js';
import { Children } from './children.js';
import { FleetApprover } from './questions.js';
import type { JobHost, Run } from './run.js';
import { KeyInChanges, loadShippedSession, SessionShipper, type ShippedSession } from './shipped-session.js';
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
  const { job, key, root, store, keys } = run;
  const checkout = await checkOut({ root, name: key, job, store }, signal);
  try {
    const shipped = await loadShippedSession(store, keys, key);
    if (shipped?.changes) await checkout.apply(shipped.changes, signal);
    return await work(run, checkout, shipped, signal);
  } finally {
    await checkout.remove();
  }
}

async function work(
  run: Run,
  checkout: Checkout,
  shipped: ShippedSession | undefined,
  signal: AbortSignal,
): Promise<JobEnd> {
  const { job } = run;
  const end = endOf(run);
  const parked = new AbortController();
  const children = new Children(run, checkout, shipped?.children);
  const lathe = await openLathe(run, checkout.directory, children);
  try {
    const secrets = secretsOf(lathe.loaded);
    const model = await modelOf(lathe, signal);
    const { directory } = checkout;
    const approver = new FleetApprover({ ...run, directory, secrets, park: () => parked.abort(), earlier: shipped });
    const session = await openSession(lathe, {
      model,
      approver,
      ...(await beginning(lathe, job, shipped)),
      takesSnapshots: false,
      // What was sent before a call says that it may have run, so that it never runs again by itself.
      beforeChange: async () => {
        await shipper.ship();
        await run.assertOwned();
      },
    });
    const shipper = new SessionShipper({ ...run, checkout, session, approver, children, secrets, earlier: shipped });
    const reports = await children.takeReports(signal);
    const prompt = shipped ? promptOnReturn(checkout.directory, shipped, reports) : job.prompt;
    const start = (overspent: AbortSignal) =>
      session.prompt(prompt, AbortSignal.any([signal, parked.signal, overspent]));
    const ended = await follow(run, start, async () => {
      await shipper.keepChanges(signal);
      await shipper.ship();
    });
    await session.close();
    signal.throwIfAborted();
    const files = await shipper.keepChanges(signal);
    const isParked = parked.signal.aborted;
    if (isParked || (ended.reason === 'done' && children.open.length > 0)) {
      await shipper.ship();
      return isParked ? { status: 'parked', isAnswered: () => approver.isAnswered() } : { status: 'waiting' };
    }
    const text = ended.reason === 'done' ? ended.text : (ended.message ?? ended.reason);
    return end(ended.reason === 'done' ? 'success' : 'error', redact(text, secrets), {
      ...shipper.facts(files),
      ...(approver.answers.length > 0 && { answers: approver.answers }),
    });
  } catch (error) {
    if (error instanceof KeyInChanges || error instanceof ModelError)
      return end('error', redact(error.message, secretsOf(lathe.loaded)));
    throw error;
  } finally {
    await lathe.close();
  }
}

function endOf({ job, name }: Run) {
  const startedAt = performance.now();
  return (status: JobResult['status'], result: string, more: Partial<JobResult> = {}): JobEnd => {
    const durationMs = Math.round(performance.now() - startedAt);
    return { status: 'ended', result: newResult(job, { status, result, worker: name, durationMs, ...more }) };
  };
}

/** What a session may spend, and where it goes on. */
async function beginning({ home, workspace }: AgentLathe, { budgets = {} }: Job, shipped: ShippedSession | undefined) {
  if (!shipped) return { budgets };
  await (await SessionStore.open(home, workspace.root)).adopt(shipped.sessionId, shipped.transcript);
  return { budgets: budgetsLeft(budgets, shipped.spent), resume: { id: shipped.sessionId } };
}

function promptOnReturn(directory: string, { asked }: ShippedSession, reports: string): string {
  if (reports !== '') return `Working directory: ${directory}.\n${reports}`;
  const waited =
    Object.keys(asked).length > 0
      ? 'A call waited for an approval. Make the same call again if it is still needed; the answer is known then.'
      : 'Calls that were running when it stopped did not run again: look at what is there, then finish the task.';
  return `The work was interrupted and continues now. Working directory: ${directory}. ${waited}`;
}

function openLathe(run: Run, cwd: string, children: Children): Promise<AgentLathe> {
  const { job, env, home, latheHome, sandbox, maxMode } = run;
  const { deny = [], ask = [] } = job.rules ?? {};
  return createAgentLathe({
    cwd,
    env,
    home,
    latheHome,
    isTrusted: false,
    ...(job.flows && job.parent === undefined && { runTask: (task, signal) => children.start(task, signal) }),
    flags: {
      'tools.approvalMode': job.mode ?? (maxMode === 'plan' ? 'plan' : 'default'),
      'tools.sandbox.mode': sandbox,
      ...(job.model !== undefined && { 'model.name': job.model }),
      ...(deny.length > 0 && { 'permissions.deny': deny }),
      ...(ask.length > 0 && { 'permissions.ask': ask }),
    },
  });
}
