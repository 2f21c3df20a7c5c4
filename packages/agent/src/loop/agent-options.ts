import type { CallEvent, CallOutcome, CallRequest, FunctionDeclaration } from '@lathe/core';
import type { PromptHooks } from '@lathe/core/host';
import type { Message, Model } from '../models/model.js';
import type { Budgets, Price } from './budget.js';

/** What an agent needs. */
export interface AgentOptions {
  model: Model;
  /** Writes summaries; the model itself when left out. */
  sideModel?: Model;
  system: string;
  tools: DeclaredTools;
  /** Runs this agent's calls. */
  runner: CallRunner;
  /** Of an earlier session, in whatever state it is. */
  history?: readonly Message[];
  budgets?: Budgets;
  /** Price of the model, for a budget of cost. */
  price?: Price;
  maxOutputTokens?: number;
  hooks?: PromptHooks;
  context?: ContextSource;
  /** Said to the model with every prompt; empty for nothing. */
  remarks?: () => string;
  /** Go on although the model runs in circles. */
  skipLoopDetection?: boolean;
}

/** Runs the calls of one agent; a `Scheduler` is one. */
export interface CallRunner {
  run(calls: readonly CallRequest[], signal: AbortSignal): PromiseLike<CallOutcome[]> & CallEvents;
}

/** What happens to calls, and at the end their outcomes. */
interface CallEvents {
  [Symbol.asyncIterator](): AsyncIterator<CallEvent, CallOutcome[]>;
}

/** The tools that the model is told about, in an order whose beginning does not change. */
export interface DeclaredTools {
  declarations(contextWindow: number): readonly FunctionDeclaration[];
}

/** Files that tell the model about the project. */
export interface ContextSource {
  /** What stands before the first prompt of a session. */
  opening(): Promise<ContextText>;
  /** What has changed of it, before each later prompt. */
  changed(): Promise<ContextText>;
  /** What belongs to the folders that a call has just touched, each of them once. */
  touched(args: unknown): Promise<ContextText>;
  /** What has been given to the model, for people. */
  readonly loaded: readonly ContextFile[];
}

/** A context file as the model was given it. */
export interface ContextFile {
  path: string;
  owner: 'person' | 'project';
  /** With what it imports. */
  characters: number;
}

/** What context files say. */
export interface ContextText {
  /** Empty when there is nothing to say. */
  text: string;
  /** For people: what was loaded, and what is suspicious about it. */
  notices: readonly { level: 'info' | 'warning'; message: string }[];
}
