import { type AgentLathe, createAgentLathe, openSession, type PromptEnd, SessionStore } from '@lathe/agent';
import { chooseModel, formatModelSetup, ModelError } from '@lathe/agent/models';
import type { ApprovalMode } from '@lathe/core';
import { redact, secretsOf } from '@lathe/core/host';
import { type Checkout, checkOut } from '../files/checkout.js';
import type { Store } from '../files/store.js';
import type { Job } from '../job/job.js';
import type { Keys } from '../job/keys.js';
import { type JobResult, newResult } from '../job/result.js';
import type { Board } from '../queue/board.js';
import { Children } from './children.js';
import { FleetApprover } from './questions.js';
import { KeyInChanges, loadShippedSession, SessionShipper, type ShippedSession } from './shipped-session.js';
import { budgetsLeft, follow } from './spending.js';

/** What every job on this worker uses. */
export interface JobHost {
  name: string;
  keys: Keys;
  board: Board;
  store: Store;
  env: Readonly<Record<string, string | undefined>>;
  home: string;
  latheHome: string;
  /** Where mirrors and the directories of tasks are. */
  root: string;
  /** The loosest mode that a job may have. */
  maxMode: ApprovalMode;
  sandbox: 'required' | 'auto' | 'off';
  /** How long a job keeps its worker while it waits for an answer. */
  answerWaitMs: number;
  log: (message: string) => void;
}

/** `parked` waits for an answer, `waiting` for its children; both have freed their worker. */
export type JobEnd =
  | { status: 'ended'; result: JobResult }
  | { status: 'parked'; isAnswered: () => Promise<boolean> }
  | { status: 'waiting' };

export interface Run extends JobHost {
  job: Job;
  key: string;
  /** Counts from 1 with every worker that took the job. */
  attempt: number;
  /** Throws when another worker has the job now. */
  assertOwned: () => Promise<void>;
  /** Puts a job that works for this one into the queue. */
  addChild: (child: Job) => Promise<void>;
  findResult: (id: string) => Promise<JobResult | undefined>;
}

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
    const model = await openModel(lathe, signal);
    if (typeof model === 'string') return end('error', redact(model, secrets));
    const { directory } = checkout;
    const approver = new FleetApprover({ ...run, directory, secrets, park: () => parked.abort(), earlier: shipped });
    const session = await openSession(lathe, {
      model,
      approver,
      budgets: budgetsLeft(job, shipped?.spent),
      takesSnapshots: false,
      // What was sent before a call says that it may have run, so that it never runs again by itself.
      beforeChange: async () => {
        await shipper.ship();
        await run.assertOwned();
      },
      ...(shipped && (await resume(lathe, shipped))),
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
    return end(ended.reason === 'done' ? 'success' : 'error', redact(textOf(ended), secrets), {
      ...shipper.facts(files),
      ...(approver.answers.length > 0 && { answers: approver.answers }),
    });
  } catch (error) {
    if (error instanceof KeyInChanges) return end('error', error.message);
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

const textOf = ({ reason, text, message }: PromptEnd): string => (reason === 'done' ? text : (message ?? reason));

async function resume({ home, workspace }: AgentLathe, { sessionId, transcript }: ShippedSession) {
  await (await SessionStore.open(home, workspace.root)).adopt(sessionId, transcript);
  return { resume: { id: sessionId } };
}

function promptOnReturn(directory: string, { asked }: ShippedSession, reports: string): string {
  if (reports !== '') return `Working directory: ${directory}.\n${reports}`;
  const waited =
    Object.keys(asked).length > 0
      ? 'A call waited for an approval. Make the same call again if it is still needed; the answer is known then.'
      : 'Calls that were running when it stopped did not run again: look at what is there, then finish the task.';
  return `The work was interrupted and goes on now. Working directory: ${directory}. ${waited}`;
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

async function openModel({ settings, loaded, home }: AgentLathe, signal: AbortSignal) {
  try {
    const choice = await chooseModel({ settings: settings.model, env: loaded.env, home: home.path }, signal);
    return choice.status === 'chosen' ? choice.model : formatModelSetup(choice.setup);
  } catch (error) {
    if (error instanceof ModelError) return error.message;
    throw error;
  }
}
