import type { CallEvent, Part } from '@lathe/core';
import type { Message, Usage } from '../models/model.js';

/**
 * Everything an agent does, in order: for the interactive UI, headless output, the MCP server, a parent agent and the
 * transcript. One prompt yields `prompt-start`, then turns, then exactly one `prompt-end`.
 *
 * A turn is one request to the model and the calls of its answer. Deltas are a preview of the `message-add` that ends
 * the answer; after `retry` the deltas of this turn are void.
 */
export type AgentEvent =
  /** The prompt as the model gets it: text, images and other parts. */
  | { type: 'prompt-start'; parts: readonly Part[] }
  /** A request to the model begins. Turns are counted from 1 over the life of the agent. */
  | { type: 'turn-start'; turn: number }
  /** A piece of the answer. */
  | { type: 'text-delta'; text: string }
  /** A piece of what the model thinks, if the provider shows it. */
  | { type: 'reasoning-delta'; text: string }
  /** The request failed and is sent again after a pause. Forget the deltas of this turn. */
  | { type: 'retry'; attempt: number; delayMs: number; reason: string; spent?: RequestSpending }
  | Exclude<CallEvent, { type: 'subagent-event' }>
  /** The history grew by this message: the prompt, an answer, or the results of its calls. */
  | { type: 'message-add'; message: Message }
  /** What the last request and the session so far cost. */
  | { type: 'usage'; usage: UsageReport }
  /** The history is about to be shortened. A summary may take a while. */
  | { type: 'compaction-start'; contextTokens: number }
  /** From here on the history is `compaction.history`. */
  | { type: 'compaction-end'; compaction: Compaction }
  /** An event of the subagent that the call `callId` started. */
  | { type: 'subagent-event'; callId: string; event: AgentEvent }
  /** The work on the prompt is over. `end.reason` says why. */
  | { type: 'prompt-end'; end: PromptEnd };

/** What a request cost. */
export interface RequestSpending {
  request: Usage;
  /** In cents; missing when the price of the model is not known. */
  requestCost?: number;
}

/** What a request and the whole session so far cost. */
export interface UsageReport extends RequestSpending {
  /** The name of the model that answered. */
  model: string;
  session: Usage;
  /** In cents; missing when the price of any request so far is not known. */
  sessionCost?: number;
  /** Tokens of the next request, and how many the model can see. */
  contextTokens: number;
  contextWindow: number;
}

/** How a history was shortened. */
export interface Compaction {
  /** Replaced old outputs by pointers, summarized the past, or dropped it because there was no summary. */
  method: 'outputs' | 'summary' | 'drop';
  tokensBefore: number;
  tokensAfter: number;
  /** What the summary cost. */
  spent?: RequestSpending;
  history: readonly Message[];
}

/** Why the agent stopped working on a prompt. */
export type EndReason =
  /** The model has answered. */
  | 'done'
  /** Somebody stopped the work. */
  | 'aborted'
  /** The model could not be reached, or it rejected the request. `message` says why. */
  | 'error'
  /** A hook rejected the prompt. */
  | 'blocked'
  /** The model made the same calls with the same results again and again, or repeated a text. */
  | 'loop'
  /** The model gave no answer, even when asked again. */
  | 'empty'
  /** The answer was cut at the model's output limit. */
  | 'length'
  /** The model or a safety filter refused to answer. */
  | 'filter'
  | BudgetReason;

/** Which budget was used up. */
export type BudgetReason =
  /** The limit of turns was reached. */
  | 'max-turns'
  /** The limit of tokens was reached. */
  | 'max-tokens'
  /** The limit of minutes was reached. */
  | 'max-time'
  /** The limit of costs was reached. */
  | 'max-cost';

/** How the work on a prompt ended. */
export interface PromptEnd {
  reason: EndReason;
  /** The text of the last answer. */
  text: string;
  /** For people: what happened and what to do about it; missing on success. */
  message?: string;
  /** Turns of this prompt. */
  turns: number;
  usage: Usage;
  /** Of this prompt and the subagents it started, in cents; missing when a price is not known. */
  cost?: number;
  durationMs: number;
  /** The part of it spent waiting for the model. */
  modelMs: number;
}
