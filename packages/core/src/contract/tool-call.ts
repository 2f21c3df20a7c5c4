import type { CallOutcome, CallRequest } from './call.js';
import type { Display } from './display.js';

/** One call on its way through the nine steps. The scheduler makes it and hands it to every method of the tool. */
export interface ToolCall {
  /** The id under which the front end and the model know the call. */
  readonly id: string;
  /** The directory that the agent works in, which relative paths start from. */
  readonly directory: string;
  /** Shows live output while the tool runs. Each display replaces the one before. */
  output(display: Display): void;
  /**
   * Runs other calls on behalf of this one, through the same steps, policy and questions. Their events join the stream
   * of this call, and they do not wait for it.
   */
  run(requests: readonly CallRequest[], signal: AbortSignal): Promise<CallOutcome[]>;
  /**
   * Asks the person, who picks an option or answers in their own words. The time limit of the tool stops meanwhile.
   * `nobody` when there is no person, or none who can answer while a call runs.
   */
  ask(prompt: string, options?: readonly string[]): Promise<Answer>;
  /** The real path behind `path`, once reading it is allowed. What the tool does with it then, nobody checks. */
  locate(path: string): Promise<string>;
  /** The whole text of a file, without a byte order mark, read under the rules of `read_file`. */
  readText(path: string): Promise<string>;
  /**
   * Writes a file as `write_file` does: the same rules, question, journal and durability. A file that exists must have
   * been read with `readText` in this call, and be unchanged since. Returns what to tell the model. Only for `execute`.
   */
  write(path: string, text: string): Promise<string>;
  /** Adds an event of work that this call started, such as that of a subagent, to the stream. */
  report(event: unknown): void;
  /** What one step of the call leaves for a later one; see `CallSlot`. */
  readonly slots: Map<CallSlot<unknown>, unknown>;
}

/** What became of a question. `text` is the option that was picked, or what the person wrote. */
export type Answer = { status: 'answered'; text: string } | { status: 'declined' } | { status: 'nobody' };

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

/** Set for a call that nobody was asked about because the sandbox contains it. The tool must run it there, or not at all. */
export const mustBeContained = new CallSlot<true>();

/** A file with keys that the call may have read although nobody was asked. */
export const mayHaveRead = new CallSlot<string>();

const refuse = () => Promise.reject(new Error('Only a call that a scheduler runs can run others or touch files'));

/** A call without a scheduler, for code that runs a tool directly. Nothing in it has been judged. */
export function directCall(): ToolCall {
  return {
    id: 'direct',
    directory: '/',
    output: () => {},
    report: () => {},
    ask: async () => ({ status: 'nobody' }),
    run: refuse,
    locate: refuse,
    readText: refuse,
    write: refuse,
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
