import type { Display } from './display.js';

/** One call on its way through the nine steps. The scheduler makes it and hands it to every method of the tool. */
export interface ToolCall {
  /** The id under which the front end and the model know the call. */
  readonly id: string;
  /** Shows live output while the tool runs. Each display replaces the one before. */
  output(display: Display): void;
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
  return { id: 'direct', output: () => {}, slots: new Map() };
}
