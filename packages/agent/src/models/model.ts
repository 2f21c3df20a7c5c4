import type { FunctionCall, FunctionDeclaration, Part } from '@lathe/core';

/**
 * A language model, wherever it runs. This file is all that the agent knows about models: it sends a request and reads
 * one answer as a stream of events that ends with exactly one `finish`, or throws a `ModelError` (or the signal's reason
 * after an abort).
 */
export interface Model {
  /** Its name at the provider. */
  readonly id: string;
  /** Who serves it: `openai`, `ollama`, `scripted` … */
  readonly provider: string;
  /** Tokens that a request and its answer may have together. */
  readonly contextWindow: number;
  readonly supports: ModelFeatures;
  /** The levels of effort that it takes, if known. Empty: it has no such thing. */
  readonly effortLevels?: readonly Effort[] | undefined;
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>;
}

/** Which model it is. */
export type ModelIdentity = Pick<Model, 'id' | 'provider'>;

/** What a model can do. */
export interface ModelFeatures {
  images: boolean;
  tools: boolean;
  pdf: boolean;
  audio?: boolean;
  video?: boolean;
}

/** The levels of effort, from the least to the most. */
export const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
/** How much a model thinks before it answers. */
export type Effort = (typeof efforts)[number];

/** A request to a model. */
export interface ModelRequest {
  system: string;
  /** A model never changes it. Providers cache it as long as its beginning stays the same. */
  history: readonly Message[];
  tools: readonly FunctionDeclaration[];
  maxOutputTokens?: number;
  /** How much to think. Without it the provider decides. A model gets the closest level that it knows. */
  effort?: Effort;
  /** A JSON Schema that the text of the answer must satisfy. */
  responseSchema?: unknown;
  /** Why a fallback must not answer, if so. Without it any may. */
  refuses?: (fallback: ModelIdentity) => Promise<string | undefined>;
}

/**
 * One step of a conversation. `functionCall` parts are in `model` messages, and each has one `functionResponse` part in
 * the next `tool` message.
 */
export interface Message {
  role: 'user' | 'model' | 'tool';
  parts: Part[];
  /** Provider of a `model` message; its reasoning and signatures are replayed only to the same one. */
  provider?: string;
  /** Where the person's words begin in the parts of a `user` message; -1 if it has none. Default: 0. */
  askedAt?: number;
}

/**
 * Text and reasoning arrive as they are written. Calls arrive only after the answer is complete, so an answer that broke
 * and was retried can never have run anything.
 */
export type ModelEvent =
  | { type: 'text-delta'; text: string }
  | { type: 'reasoning-delta'; text: string }
  /**
   * The answer broke or was rejected. The request is repeated after `delayMs`, and all deltas so far are void. `usage`, if
   * known, was spent all the same.
   */
  | { type: 'retry'; attempt: number; delayMs: number; reason: string; usage?: Usage }
  /** The model could not answer. `model` does from now on, and all deltas so far are void. */
  | { type: 'fallback'; model: string; reason: string }
  /**
   * A complete call: `args` is an object, `id` is unique in this answer. The agent makes it unique in the conversation.
   */
  | { type: 'call'; call: ReceivedCall }
  /** A call that must not run; its result is the error `problem`. In `finish.message` it has no arguments. */
  | { type: 'broken-call'; id: string; name: string; problem: string }
  /**
   * `message` belongs at the end of the history. It has no parts when the answer is empty. `model` is the one that
   * answered, if it may be a fallback.
   */
  | { type: 'finish'; reason: FinishReason; usage: Usage; message: Message; model?: ModelIdentity };

/** A call that a model asked for. */
export type ReceivedCall = Required<FunctionCall>;

/**
 * `calls`: wants results · `length`: the output limit was reached · `filter`: refused by the model or a safety filter ·
 * `other`: ended for a reason we do not know.
 */
export type FinishReason = 'stop' | 'calls' | 'length' | 'filter' | 'other';

/** What a request cost, in tokens. */
export interface Usage {
  /** Tokens of the request, cached ones included. */
  inputTokens: number;
  /** Tokens of the answer, reasoning included. */
  outputTokens: number;
  /** Part of the input that the provider had in its cache. */
  cachedInputTokens: number;
  /** Part of the input that the provider put into its cache, where it charges for that. */
  cacheWriteTokens?: number;
  /** Part of the output. */
  reasoningTokens: number;
  /** The provider sent no figures; these are our estimate. */
  isEstimate?: boolean;
}
