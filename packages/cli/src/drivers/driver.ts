import type { AgentEvent, ContextFile, Message, Session, Spending } from '@lathe/agent';
import type { PartUnion } from '@lathe/core';

/** Handles a person's input: an agent with a model, or the console without one. */
export interface Driver {
  /** Shown in the status line. */
  readonly name: string;
  readonly placeholder: string;
  /** Executes the input. The stream ends when it is done or aborted and throws only on bugs. */
  submit(input: string, signal: AbortSignal): AsyncIterable<AgentEvent>;
  /** Sends this content to the model unchanged. */
  prompt(content: PartUnion[], signal: AbortSignal): AsyncIterable<AgentEvent>;
  /** Adds input to the work in progress. False if it cannot, or if the work ended before the model saw it. */
  steer?(input: string, signal: AbortSignal): Promise<boolean>;
  /** Works on the reports of background tasks. */
  hear?(signal: AbortSignal): AsyncIterable<AgentEvent>;
  /** Whether there are reports that the model has not seen. */
  readonly hasMessages?: boolean;
  /** Calls `listener` when a report arrives. */
  onMessage?(listener: () => void): void;
  /** Starts a new conversation. */
  clear(): void;
  /** Compacts the conversation. */
  compact(signal: AbortSignal): AsyncIterable<AgentEvent>;
  /** Missing in the console. */
  readonly conversation?: Conversation | undefined;
}

/** A conversation with a model. */
export interface Conversation {
  /** Missing if the conversation is not stored. */
  readonly id?: string;
  readonly messages: number;
  readonly contextTokens: number;
  readonly contextWindow: number;
  /** The context files that the model received. */
  readonly contextFiles: readonly ContextFile[];
  /** The way back to earlier prompts. Missing if the conversation is not stored. */
  readonly rewind?: Pick<Session, 'points' | 'previewRewind' | 'rewind'>;
  /** Everything said so far. */
  readonly history: readonly Message[];
  /** What was spent on the model so far. */
  readonly usage: Spending;
  /** Switches to another session. Returns notes for the person. */
  resume(id: string): Promise<readonly string[]>;
  /** Switches to another model, another effort or both: `gpt-5.4 high`. Throws if there is no model with this name. */
  useModel(name: string, signal: AbortSignal): Promise<string[]>;
  /** How much the model thinks, for people; empty when the provider decides. */
  readonly effort: string;
}
