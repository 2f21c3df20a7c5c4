import type { CallOutcome, CallRequest } from './call.js';
import type { Display } from './display.js';

/** One call on its way through the nine steps. The scheduler makes it and hands it to every method of the tool. */
export interface ToolCall {
  /** The id under which the front end and the model know the call. */
  readonly id: string;
  /** Shows live output while the tool runs. Each display replaces the one before. */
  output(display: Display): void;
  /**
   * Runs other calls on behalf of this one, through the same steps, policy and questions. Their events join the stream
   * of this call, and they do not wait for it.
   */
  run(requests: readonly CallRequest[], signal: AbortSignal): Promise<CallOutcome[]>;
  /** Adds an event of work that this call started, such as that of a subagent, to the stream. */
  report(event: unknown): void;
  /** What one step of the call leaves for a later one; see `CallSlot`. */
  readonly slots: Map<CallSlot<unknown>, unknown>;
}

/** A typed place in a call, in which one method of a tool leaves something for another: a plan, a person's choice. */
export class CallSlot<T> {
  get({ slots }: ToolCall): T | undefined {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only `set` puts something under this slot
    return slots.get(this) as T | undefined;
  }

  set({ slots }: ToolCall, value: T): void {
    slots.set(this, value);
  }
}

/** A call without a scheduler, for code that runs a tool directly. Nothing in it has been judged. */
export function directCall(): ToolCall {
  return {
    id: 'direct',
    output: () => {},
    report: () => {},
    run: () => Promise.reject(new Error('Only a call that a scheduler runs can run others')),
    slots: new Map(),
  };
}

/**
 * An id like the one that is wanted and unlike all that are taken, which it then joins. Models reuse ids and forget them,
 * and results are matched with calls by id.
 */
export function uniqueId(wanted: string | undefined, taken: Set<string>): string {
  const base = wanted || 'call';
  let id = base;
  for (let n = taken.size + 1; id === 'call' || taken.has(id); n++) id = `${base}-${n}`;
  taken.add(id);
  return id;
}
