import type { CallEvent, CallOutcome, CallRequest, FunctionDeclaration } from '@lathe/core';
import type { PromptHooks } from '@lathe/core/host';
import type { Effort, Message, Model } from '../models/model.js';
import type { PriceList } from '../models/prices.js';
import type { AgentTrace } from './agent-trace.js';
import type { Budgets } from './budget.js';

/** What an agent needs. */
export interface AgentOptions {
  /** Called with each prompt before the model gets it. */
  onPrompt?: (text: string) => void;
  model: Model;
  /** Writes summaries. Default: `model`. */
  sideModel?: Model;
  system: string;
  tools: DeclaredTools;
  /** Runs this agent's calls. */
  runner: CallRunner;
  /** Of an earlier session, in any state. */
  history?: readonly Message[];
  budgets?: Budgets;
  /** Says what requests cost. Without it nothing is known about cost, and a budget of cost allows no request. */
  prices?: PriceList;
  maxOutputTokens?: number;
  /** How much the model thinks. Default: as the provider likes. */
  effort?: Effort;
  hooks?: PromptHooks;
  context?: ContextSource;
  /** Added to every prompt; may be empty. */
  remarks?: () => string;
  /** Called when a message arrives that no person sent. Without it, a prompt waits for those that are expected. */
  onMessage?: () => void;
  /** Records what the agent does. */
  trace?: AgentTrace;
  /** Continue although the model repeats itself. */
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

/** The tools declared to the model, in an order whose beginning does not change. */
export interface DeclaredTools {
  declarations(contextWindow: number): readonly FunctionDeclaration[];
}

/** Files that describe the project to the model. */
export interface ContextSource {
  /** Text before the first prompt of a session. */
  opening(): Promise<ContextText>;
  /** Changes since then, before each later prompt. */
  changed(): Promise<ContextText>;
  /** The files of folders that a call has just touched, each folder once. */
  touched(args: unknown): Promise<ContextText>;
  /** What the model has seen, for people. */
  readonly loaded: readonly ContextFile[];
}

/** A context file as the model saw it. */
export interface ContextFile {
  path: string;
  owner: 'person' | 'project';
  /** Including imports. */
  characters: number;
}

/** What context files say. */
export interface ContextText {
  text: string;
  /** For people: what was loaded, and what is suspicious about it. */
  notices: readonly { level: 'info' | 'warning'; message: string }[];
}
