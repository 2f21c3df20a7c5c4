import { setMaxListeners } from 'node:events';
import type { PartListUnion } from '../content.js';
import type { ToolCall } from '../contract/tool-call.js';
import { untilAborted } from '../files/until-aborted.js';
import type { Policy } from '../policy/policy.js';
import type { ToolRegistry } from '../tools/tool-registry.js';
import { approve } from './approve.js';
import { addRemark, askHooks } from './ask-hooks.js';
import type { Approver, AuditRecord, CallEvent, CallOutcome, CallRequest, ReadyCall } from './call.js';
import type { CallHooks } from './call-hooks.js';
import { CallState } from './call-state.js';
import { withDeadline } from './deadline.js';
import { prepare } from './prepare.js';
import { fit, type Spill } from './respond.js';

export interface SchedulerOptions {
  registry: ToolRegistry;
  policy: Policy;
  approver: Approver;
  spill: Spill;
  onEvent?: (event: CallEvent) => void;
  /** Puts into a new call what its tools should know of whoever asked for it. */
  prepareCall?: (call: ToolCall) => void;
  audit?: (record: AuditRecord) => void;
  hooks?: CallHooks;
  /** How long a tool may take to clean up after it was told to stop, before it is left behind. */
  graceMs?: number;
}

const maxParallel = 10;
/** Looking at the parameters of a call takes no longer than this. */
const prepareMs = 30_000;
const defaultGraceMs = 1000;

/**
 * The nine steps. Each call is judged and run at its turn, against the world as the calls before it left it;
 * neighbouring calls that change nothing run together. Every call gets exactly one outcome, in call order.
 */
export class Scheduler {
  readonly #options: SchedulerOptions;
  #queue: Promise<unknown> = Promise.resolve();

  constructor(options: SchedulerOptions) {
    this.#options = options;
  }

  /** Runs a batch after the batches before it. Never rejects. */
  run(requests: readonly CallRequest[], signal: AbortSignal): Promise<CallOutcome[]> {
    const batch = this.#queue.then(() => this.#runBatch(requests, signal));
    // Whatever became of this batch, the next one runs.
    this.#queue = batch.catch(() => undefined);
    return batch;
  }

  async #runBatch(requests: readonly CallRequest[], signal: AbortSignal): Promise<CallOutcome[]> {
    // One listener on the caller's signal, however many calls there are.
    const batch = new AbortController();
    setMaxListeners(0, batch.signal);
    const forward = () => batch.abort(signal.reason);
    signal.addEventListener('abort', forward, { once: true });
    if (signal.aborted) forward();
    try {
      const ids = uniqueIds(requests);
      const calls = requests.map((request, index) => this.#announce(request, ids[index] ?? `call-${index}`));
      for (const call of calls) await this.#prepare(call, batch.signal);
      for (const group of groups(calls)) await this.#runGroup(group, batch.signal);
      return calls.flatMap(({ outcome }) => outcome ?? []);
    } finally {
      signal.removeEventListener('abort', forward);
    }
  }

  #announce(request: CallRequest, callId: string): CallState {
    const { onEvent, audit } = this.#options;
    const call = new CallState(callId, request, { onEvent, audit, now: () => performance.now() });
    this.#options.prepareCall?.(call);
    call.update('validating');
    return call;
  }

  async #prepare(call: CallState, signal: AbortSignal): Promise<void> {
    const { request } = call;
    const limit = { name: call.name, ms: prepareMs, graceMs: 0 };
    try {
      signal.throwIfAborted();
      call.ready = await withDeadline(() => prepare(request, call, this.#options.registry), limit, signal);
    } catch (error) {
      settle(call, error, signal);
    }
  }

  /** Asks about each call in turn, then runs the approved ones together. */
  async #runGroup(group: readonly CallState[], signal: AbortSignal): Promise<void> {
    for (const call of group) await step(call, signal, (ready) => this.#approve(call, ready, signal));
    const approved = group.filter(({ outcome }) => outcome === undefined);
    const work = async () => {
      for (let call = approved.shift(); call; call = approved.shift()) {
        const current = call;
        await step(current, signal, (ready) => this.#execute(current, ready, signal));
      }
    };
    await Promise.all(Array.from({ length: Math.min(maxParallel, approved.length) }, work));
  }

  async #approve(call: CallState, ready: ReadyCall, signal: AbortSignal): Promise<void> {
    const { policy, approver, hooks } = this.#options;
    const onWait = (waiting: ReadyCall) => {
      call.ready = waiting;
      call.update('awaiting_approval');
    };
    const { ready: proposed, ask } = hooks ? await askHooks(ready, hooks, signal) : { ready, ask: undefined };
    const context = { policy, approver, onWait, record: call.record, ask };
    call.ready = await untilAborted(approve(proposed, context, signal), signal);
    call.update('scheduled');
  }

  async #execute(call: CallState, ready: ReadyCall, signal: AbortSignal): Promise<void> {
    const { tool, params, repairs } = ready;
    call.update('executing');
    call.record.executed = params;
    const { llmContent, returnDisplay, error } = await withDeadline(
      (own) => tool.execute(params, own, call),
      { name: tool.name, ms: tool.timeoutMs, graceMs: this.#options.graceMs ?? defaultGraceMs },
      signal,
    );
    const fitting = noteRepairs(await fit(llmContent, ready, this.#options.spill), repairs);
    const content = await this.#hearHooks(ready, { llmContent: fitting, ...(error && { error }) }, signal);
    // A tool may hand over what it had when it was stopped; that is no failure of its own.
    const status = !error ? 'success' : signal.aborted ? 'cancelled' : 'error';
    call.finish({ status, llmContent: content, returnDisplay, ...(error && { error }) });
  }

  /** What ran has run, so an abort while hooks look at its result does not make it a cancelled call. */
  async #hearHooks(
    { call, tool, params }: ReadyCall,
    result: Pick<CallOutcome, 'llmContent' | 'error'>,
    signal: AbortSignal,
  ): Promise<PartListUnion> {
    try {
      const said = await this.#options.hooks?.after({ callId: call.id, tool: tool.name, args: params }, result, signal);
      return addRemark(result.llmContent, said?.context);
    } catch (error) {
      if (signal.aborted) return result.llmContent;
      throw error;
    }
  }
}

/** Takes a call without an outcome one step further. Whatever is thrown becomes its outcome. */
async function step(call: CallState, signal: AbortSignal, take: (ready: ReadyCall) => Promise<void>): Promise<void> {
  if (call.outcome !== undefined || call.ready === undefined) return;
  try {
    signal.throwIfAborted();
    await take(call.ready);
  } catch (error) {
    settle(call, error, signal);
  }
}

function settle(call: CallState, error: unknown, signal: AbortSignal): void {
  if (signal.aborted) call.cancel('The call was cancelled before it finished.');
  else call.fail(error);
}

/** Neighbouring calls that change nothing form a group; every other call is a group of its own. */
function groups(calls: readonly CallState[]): CallState[][] {
  const result: CallState[][] = [];
  let openGroup: CallState[] | undefined;
  for (const call of calls) {
    if (call.ready && !call.ready.isReadOnly) {
      result.push([call]);
      openGroup = undefined;
    } else if (openGroup) openGroup.push(call);
    else {
      openGroup = [call];
      result.push(openGroup);
    }
  }
  return result;
}

/** Models reuse and forget ids; within a batch each call needs one of its own. */
function uniqueIds(requests: readonly CallRequest[]): string[] {
  const given = new Set(requests.map(({ id }) => id));
  const taken = new Set<string | undefined>();
  return requests.map(({ id }, index) => {
    let candidate = id || `call-${index + 1}`;
    if (candidate !== id || taken.has(id))
      for (let n = 2; taken.has(candidate) || given.has(candidate); n++)
        candidate = `${id || 'call'}-${index + 1}-${n}`;
    taken.add(candidate);
    return candidate;
  });
}

/** Tells the model how its parameters were read, so that it sends better ones next time. */
function noteRepairs(content: PartListUnion, repairs: readonly string[]): PartListUnion {
  if (repairs.length === 0) return content;
  const note = `[Parameters repaired: ${repairs.join('; ')}]\n`;
  if (typeof content === 'string') return note + content;
  return [note, ...(Array.isArray(content) ? content : [content])];
}
