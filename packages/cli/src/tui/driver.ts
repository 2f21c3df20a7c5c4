import type { AgentEvent } from '@lathe/core';

/** What a person's input is handed to: an agent with a model, or the console without one. */
export interface Driver {
  /** For the status line. */
  readonly name: string;
  readonly placeholder: string;
  /** Does what the input says. The stream ends when it is done or aborted; it throws only bugs. */
  submit(input: string, signal: AbortSignal): AsyncIterable<AgentEvent>;
  /** Whole inputs that `input` could become. */
  complete(input: string): string[];
  /** Forgets the conversation. */
  clear(): void;
  /** Shortens the conversation. */
  compact(signal: AbortSignal): AsyncIterable<AgentEvent>;
}
