import type { AgentEvent, ContextFile } from '@lathe/agent';
import type { PartUnion } from '@lathe/core';
import type { Completion } from '../completion/completions.js';

/** What a person's input is handed to: an agent with a model, or the console without one. */
export interface Driver {
  /** For the status line. */
  readonly name: string;
  readonly placeholder: string;
  /** Does what the input says. The stream ends when it is done or aborted; it throws only bugs. */
  submit(input: string, signal: AbortSignal): AsyncIterable<AgentEvent>;
  /** Gives a model these words as they are. */
  prompt(content: PartUnion[], signal: AbortSignal): AsyncIterable<AgentEvent>;
  /** What the text before the cursor could become. */
  complete(text: string, cursor: number): Completion | undefined;
  /** Forgets the conversation. */
  clear(): void;
  /** Shortens the conversation. */
  compact(signal: AbortSignal): AsyncIterable<AgentEvent>;
  /** The agent and its conversation, when there is one. */
  readonly conversation?: Conversation | undefined;
}

/** What can be said and done about a conversation with a model. */
export interface Conversation {
  /** Missing when it is not written down. */
  readonly id?: string;
  readonly messages: number;
  readonly contextTokens: number;
  readonly contextWindow: number;
  /** What the model was told besides. */
  readonly contextFiles: readonly ContextFile[];
  /** Goes on with another session; returns what a person should know about it. */
  resume(id: string): Promise<string[]>;
  /** Goes on with another model. Throws a sentence when there is none of that name. */
  useModel(name: string, signal: AbortSignal): Promise<string[]>;
}
