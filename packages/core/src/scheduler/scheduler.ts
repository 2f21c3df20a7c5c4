import { setMaxListeners } from 'node:events';
import { Channel } from '../async/channel.js';
import { Pauses, untilAborted, withDeadline } from '../async/deadline.js';
import { ReadWriteLock } from '../async/read-write-lock.js';
import type { Approver, AuditRecord, CallEvent, CallOutcome, CallRequest } from '../contract/call.js';
import { type PartListUnion, textOf, toParts } from '../contract/content.js';
import { ToolError } from '../contract/errors.js';
import { mayHaveRead, type ToolCall, uniqueId } from '../contract/tool-call.js';
import type { CallWatcher } from '../contract/trace.js';
import type { Exposure } from '../policy/exposure.js';
import type { Policy } from '../policy/policy.js';
import type { Spill } from '../text/truncate.js';
import type { ToolRegistry } from '../tools/tool-registry.js';
import { type AnyTool, toResult } from '../tools/tools.js';
import { approve, judgedTargets } from './approve.js';
import { midCall } from './ask-person.js';
import type { FileAccess } from './call-files.js';
import { addRemark, askHooks, type CallHooks } from './call-hooks.js';
import { type CallServices, CallState, fit } from './call-state.js';
import { prepare, type ReadyCall, readyCall } from './prepare.js';

/** What a scheduler needs to run calls. */
export interface SchedulerOptions {
  registry: ToolRegistry;
  policy: Policy;
  approver: Approver;
  spill: Spill;
  /** Puts into a new call what its tools should know about the caller. */
  prepareCall?: (call: ToolCall) => void;
  /** Runs before a call that may change something. */
  beforeChange?: (signal: AbortSignal) => Promise<void>;
  audit?: (record: AuditRecord) => void;
  hooks?: CallHooks;
  /** Lets tools touch files through their call; without it, `readText` and the like are errors. */
  files?: FileAccess;
  /** Sees each call arrive and end, for telemetry. */
  watch?: CallWatcher;
  /** What the session has read, shared by the schedulers of a session. */
  exposure?: Exposure | undefined;
  /** How long a tool may take to clean up after a request to stop, before the scheduler stops waiting. */
  graceMs?: number;
}

/** A batch on its way: where its events go, and what ends it. */
interface Batch {
  emit: (event: CallEvent) => void;
  signal: AbortSignal;
  /** How many calls there are on whose behalf its calls run; the outermost holds the lock already. */
  depth: number;
  approver: Approver;
  /** The tool of all its calls, when it comes from no registry. */
  tool?: AnyTool | undefined;
  /** The call on whose behalf they run. */
  outer?: ToolCall;
}

const maxParallel = 10;
/** Calls that run on behalf of calls. */
const maxDepth = 16;
/** Looking at the parameters of a call takes no longer than this. */
const prepareMs = 30_000;
const defaultGraceMs = 1000;

/**
 * The nine steps. Each call is judged and run at its turn, against the world as the calls before it left it;
 * neighbouring calls that change nothing run together. Every call gets exactly one outcome, in call order. Batches wait
 * for each other only where they change something.
 */
export class Scheduler {
  readonly #options: SchedulerOptions;
  readonly #lock = new ReadWriteLock(maxParallel);
  #isClosed = false;

  constructor(options: SchedulerOptions) {
    this.#options = options;
  }

  /** Runs a batch: its events and, when it is awaited, its outcomes. Never rejects. Throws when it is closed. */
  run(requests: readonly CallRequest[], signal: AbortSignal = new AbortController().signal): CallRun {
    if (this.#isClosed) throw new Error('No call can be run: this Lathe is closed');
    const { approver } = this.#options;
    return new CallRun((emit) => this.#runBatch(requests, { emit, signal, approver, depth: 0 }));
  }

  /** Runs nothing from now on. */
  close(): void {
    this.#isClosed = true;
  }

  async #runBatch(requests: readonly CallRequest[], outer: Batch): Promise<CallOutcome[]> {
    const { signal } = outer;
    // One listener on the caller's signal, however many calls there are.
    const own = new AbortController();
    setMaxListeners(0, own.signal);
    const forward = () => own.abort(signal.reason);
    signal.addEventListener('abort', forward, { once: true });
    if (signal.aborted) forward();
    const batch = { ...outer, signal: own.signal };
    try {
      const ids = idsFor(requests);
      const calls = requests.map((request, index) => this.#announce(request, ids[index] ?? `${index}`, batch));
      for (const call of calls) await this.#prepare(call, batch);
      for (const group of groups(calls)) await this.#runGroup(group, batch);
      return calls.flatMap(({ outcome }) => outcome ?? []);
    } finally {
      signal.removeEventListener('abort', forward);
    }
  }

  #announce(request: CallRequest, id: string, { emit, signal, approver: person, outer, depth }: Batch): CallState {
    const { audit, prepareCall, files, watch } = this.#options;
    const pauses = new Pauses();
    const approver = () => midCall(person, request.name ?? '', pauses);
    const run: CallServices['run'] = async (nested, own, tool) => {
      // A tool that calls itself without end would leave no time for anything else.
      if (depth + 1 >= maxDepth)
        throw new ToolError('execution_failed', `Calls can run other calls at most ${maxDepth} levels deep.`);
      return this.#runBatch(nested, {
        // A front end does not show what code reads.
        emit: tool?.kind === 'read' ? (event) => event.type === 'notice' && emit(event) : emit,
        signal: own,
        depth: depth + 1,
        approver: approver(),
        tool,
        outer: call,
      });
    };
    const call: CallState = new CallState(id, request, { emit, audit, signal, pauses, approver, files, run });
    prepareCall?.(call);
    call.onEnd = watch?.(call, outer);
    call.update('validating');
    return call;
  }

  async #prepare(call: CallState, { signal, tool }: Batch): Promise<void> {
    const limit = { name: call.name, ms: prepareMs, graceMs: 0 };
    const { registry } = this.#options;
    try {
      signal.throwIfAborted();
      const work = () => (tool ? readyCall(call, tool, call.request.args) : prepare(call.request, call, registry));
      call.ready = await withDeadline(work, limit, signal);
    } catch (error) {
      settle(call, error, signal);
    }
  }

  /** Asks about each call in turn, then runs the approved ones together. */
  async #runGroup(group: readonly CallState[], batch: Batch): Promise<void> {
    const { signal, depth } = batch;
    for (const call of group) await step(call, signal, (ready) => this.#approve(call, ready, batch));
    await Promise.all(
      group.map((call) =>
        step(call, signal, (ready) => {
          const work = () => this.#execute(call, ready, signal);
          return depth > 0 ? work() : this.#lock.run(ready.isReadOnly ? 'read' : 'write', signal, work);
        }),
      ),
    );
  }

  async #approve(call: CallState, ready: ReadyCall, { signal, approver }: Batch): Promise<void> {
    const { policy, hooks, exposure } = this.#options;
    const onWait = (waiting: ReadyCall) => {
      call.ready = waiting;
      call.update('awaiting_approval');
    };
    const { ready: proposed, ask } = hooks ? await askHooks(ready, hooks, call, signal) : { ready, ask: undefined };
    const context = { policy, approver, onWait, record: call.record, pauses: call.pauses, ask, exposure };
    call.ready = await untilAborted(approve(proposed, context, signal), signal);
    call.update('scheduled');
  }

  async #execute(call: CallState, ready: ReadyCall, signal: AbortSignal): Promise<void> {
    const { tool, params, repairs } = ready;
    signal.throwIfAborted();
    if (!ready.isReadOnly) await this.#options.beforeChange?.(signal);
    call.update('executing');
    call.record.executed = params;
    const { llmContent, returnDisplay, error } = await withDeadline(
      async (own) => toResult(await tool.execute(params, own, call)),
      { name: tool.name, ms: tool.timeoutMs, graceMs: this.#options.graceMs ?? defaultGraceMs, pauses: call.pauses },
      signal,
    );
    this.#options.exposure?.noteResult(judgedTargets.get(call) ?? [], textOf(toParts(llmContent)));
    const keys = mayHaveRead.get(call);
    if (keys !== undefined) this.#options.exposure?.note({ what: `the output of a command that could read ${keys}` });
    const fitting = noteRepairs(await fit(llmContent, ready, this.#options.spill), repairs);
    const content = await this.#hearHooks(call, ready, { llmContent: fitting, ...(error && { error }) }, signal);
    // A tool may hand over what it had when it was stopped; that is not a failure of its own.
    const status = !error ? 'success' : signal.aborted ? 'cancelled' : 'error';
    call.finish({ status, llmContent: content, returnDisplay, ...(error && { error }) });
  }

  /** What ran has run, so an abort while hooks look at its result does not make it a cancelled call. */
  async #hearHooks(
    call: CallState,
    { tool, params }: ReadyCall,
    result: Pick<CallOutcome, 'llmContent' | 'error'>,
    signal: AbortSignal,
  ): Promise<PartListUnion> {
    const { hooks } = this.#options;
    if (!hooks) return result.llmContent;
    try {
      const said = await hooks.after({ callId: call.id, tool: tool.name, args: params }, result, signal);
      call.notify(said.notices);
      return addRemark(result.llmContent, said.context);
    } catch (error) {
      if (signal.aborted) return result.llmContent;
      throw error;
    }
  }
}

/** A batch of calls at work. Await it for the outcomes, or read the events, which end with the outcomes. */
export class CallRun implements PromiseLike<CallOutcome[]>, AsyncIterable<CallEvent> {
  readonly #outcomes: Promise<CallOutcome[]>;
  #channel: Channel<CallEvent> | undefined;

  constructor(work: (emit: (event: CallEvent) => void) => Promise<CallOutcome[]>) {
    // A moment later, so that a caller that reads the events at once misses none.
    this.#outcomes = Promise.resolve().then(() => work((event) => this.#channel?.push(event)));
  }

  [Symbol.asyncIterator](): AsyncGenerator<CallEvent, CallOutcome[]> {
    this.#channel = new Channel();
    return this.#channel.until(this.#outcomes);
  }

  // oxlint-disable-next-line unicorn/no-thenable -- most callers want the outcomes and nothing else
  then<A = CallOutcome[], B = never>(
    onOutcomes?: ((outcomes: CallOutcome[]) => A | PromiseLike<A>) | null,
    onError?: ((error: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#outcomes.then(onOutcomes, onError);
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

/** A call keeps the id it came with, if it is the first with it; ids for the others are made up. */
function idsFor(requests: readonly CallRequest[]): string[] {
  const taken = new Set<string>();
  const given = requests.map(({ id }) => (id ? uniqueId(id, taken) : undefined));
  return given.map((id) => id ?? uniqueId(undefined, taken));
}

/** Tells the model how its parameters were read, so that it sends better ones next time. */
function noteRepairs(content: PartListUnion, repairs: readonly string[]): PartListUnion {
  if (repairs.length === 0) return content;
  const note = `[Parameters repaired: ${repairs.join('; ')}]\n`;
  if (typeof content === 'string') return note + content;
  return [note, ...(Array.isArray(content) ? content : [content])];
}
