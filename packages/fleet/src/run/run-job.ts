import {
  type AgentLathe,
  createAgentLathe,
  openSession,
  type PromptEnd,
  type Session,
  SessionStore,
} from '@lathe/agent';
import { chooseModel, formatModelSetup, ModelError } from '@lathe/agent/models';
import type { ApprovalMode } from '@lathe/core';
import { redact, secretsOf } from '@lathe/core/host';
import { type Checkout, checkOut } from '../files/checkout.js';
import { putObject, type Store } from '../files/store.js';
import { type Job, type JobResult, noUsage } from '../job/job.js';
import type { Keys } from '../job/keys.js';
import type { Board } from '../queue/board.js';
import { FleetApprover } from './questions.js';
import { loadShippedSession, SessionShipper } from './shipped-session.js';

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

/** `parked`: it waits for an answer and has freed its worker. */
export type JobEnd = { status: 'ended'; result: JobResult } | { status: 'parked' };

interface Run extends JobHost {
  job: Job;
  key: string;
  /** Counts from 1 with every worker that took the job. */
  attempt: number;
}

const modes: readonly ApprovalMode[] = ['plan', 'default', 'auto-edit', 'yolo'];
const goOn =
  'The work was interrupted and goes on now, in the working directory named above. Calls that were running when it ' +
  'stopped did not run again: look at what is there, then finish the task.';

/** Throws when the job wants more than this worker gives. */
export function assertPermitted({ mode, expires }: Job, { maxMode }: Pick<JobHost, 'maxMode'>): void {
  if (Date.now() > expires) throw new Error('the job has expired');
  if (mode !== undefined && modes.indexOf(mode) > modes.indexOf(maxMode))
    throw new Error(`the job wants the mode ${mode}, but this worker runs at most ${maxMode}`);
}

/** Runs one task, from where an earlier worker left it. Throws only when the worker itself has a problem. */
export async function runJob(run: Run, signal: AbortSignal): Promise<JobEnd> {
  const { job, key, root, store } = run;
  const checkout = await checkOut({ root, name: key, base: job.base, store }, signal);
  try {
    const shipped = await loadShippedSession(store, key);
    if (shipped?.patch) await checkout.apply(shipped.patch, signal);
    return await work(run, checkout, shipped, signal);
  } finally {
    await checkout.remove();
  }
}

async function work(
  run: Run,
  checkout: Checkout,
  shipped: Awaited<ReturnType<typeof loadShippedSession>>,
  signal: AbortSignal,
): Promise<JobEnd> {
  const startedAt = performance.now();
  const parked = new AbortController();
  const lathe = await openLathe(run, checkout.directory);
  const secrets = secretsOf(lathe.loaded);
  try {
    const model = await openModel(lathe, signal);
    if (typeof model === 'string') return ended(run, startedAt, { status: 'error', result: model });
    if (shipped)
      await (await SessionStore.open(lathe.home, lathe.workspace.root)).adopt(shipped.sessionId, shipped.transcript);
    const session = await openSession(lathe, {
      model,
      approver: openApprover(run, { secrets, directory: checkout.directory, park: () => parked.abort() }),
      budgets: budgetsOf(run.job),
      ...(shipped && { resume: { id: shipped.sessionId } }),
    });
    const shipper = new SessionShipper(run.store, {
      key: run.key,
      attempt: run.attempt,
      path: session.transcriptPath,
      sessionId: session.id,
    });
    const ship = async () => shipper.ship((await checkout.changes(signal)).patch);
    const prompt = shipped ? `Working directory: ${checkout.directory}. ${goOn}` : run.job.prompt;
    const end = await follow(run, session, prompt, { ship, signal: AbortSignal.any([signal, parked.signal]) });
    await session.close();
    if (parked.signal.aborted && !signal.aborted) {
      await ship();
      return { status: 'parked' };
    }
    signal.throwIfAborted();
    const { patch, files } = await checkout.changes(signal);
    return ended(run, startedAt, {
      status: end.reason === 'done' ? 'success' : 'error',
      result: redact(end.reason === 'done' ? end.text : (end.message ?? end.reason), secrets),
      ...(patch.length > 0 && { patch: await putObject(run.store, patch), files }),
      usage: end.usage,
      ...(end.cost !== undefined && { cost: end.cost }),
      sessionId: session.id,
    });
  } finally {
    await lathe.close();
  }
}

function openApprover(
  { job, key, board, keys, name, log, answerWaitMs }: Run,
  { park, ...rest }: { secrets: readonly string[]; directory: string; park: () => void },
): FleetApprover {
  return new FleetApprover({
    ...rest,
    job: { key, id: job.id, run: job.run },
    board,
    keys,
    worker: name,
    waitMs: answerWaitMs,
    park: job.questions === 'park' ? park : undefined,
    onAnswer: (text) => log(`${job.id}: ${text}`),
  });
}

/** Follows a prompt to its end, ships every finished turn, and stops when the whole run has spent its budget. */
async function follow(
  { job, board }: Run,
  session: Session,
  prompt: string,
  { ship, signal }: { ship: () => Promise<void>; signal: AbortSignal },
): Promise<PromptEnd> {
  const { runTokens, runCost } = job.budgets ?? {};
  const overspent = new AbortController();
  let end: PromptEnd | undefined;
  for await (const event of session.prompt(prompt, AbortSignal.any([signal, overspent.signal]))) {
    if (event.type === 'turn-start' && event.turn > 1) await ship();
    if (event.type === 'usage') {
      const { inputTokens, outputTokens } = event.usage.request;
      const tokens = await board.add(`spent/${job.run}`, 'tokens', inputTokens + outputTokens);
      const cost = await board.add(`spent/${job.run}`, 'cost', event.usage.requestCost ?? 0);
      if ((runTokens ?? Infinity) < tokens || (runCost ?? Infinity) < cost) overspent.abort();
    }
    if (event.type === 'prompt-end') end = event.end;
  }
  if (!end) throw new Error('the agent sent no prompt-end event');
  if (!overspent.signal.aborted) return end;
  return { ...end, reason: 'max-cost', message: 'The budget of the whole run is used up.' };
}

function ended(run: Run, startedAt: number, rest: Pick<JobResult, 'status' | 'result'> & Partial<JobResult>): JobEnd {
  const { job, name } = run;
  const durationMs = Math.round(performance.now() - startedAt);
  return { status: 'ended', result: { id: job.id, run: job.run, usage: noUsage, worker: name, durationMs, ...rest } };
}

function openLathe({ job, env, home, latheHome, sandbox, maxMode }: Run, cwd: string): Promise<AgentLathe> {
  const { deny = [], ask = [] } = job.rules ?? {};
  return createAgentLathe({
    cwd,
    env,
    home,
    latheHome,
    isTrusted: false,
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

function budgetsOf({ budgets = {} }: Job) {
  const { turns, tokens, minutes } = budgets;
  return {
    ...(turns !== undefined && { turns }),
    ...(tokens !== undefined && { tokens }),
    ...(minutes !== undefined && { milliseconds: minutes * 60_000 }),
  };
}
