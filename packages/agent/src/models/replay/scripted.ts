import { setTimeout as sleep } from 'node:timers/promises';
import type { Part } from '@lathe/core';
import { estimateRequestTokens, estimateTokens } from '../estimate-tokens.js';
import type { FinishReason, Message, Model, ModelEvent, ModelRequest } from '../model.js';

/** One answer of the script. Its fields happen in this order: delay, reasoning, text, calls, error or finish. */
export interface ScriptedTurn {
  delayMs?: number;
  reasoning?: string;
  text?: string;
  calls?: { id?: string; name: string; args?: Record<string, unknown> }[];
  brokenCalls?: { name: string; problem: string }[];
  /** Thrown instead of finishing; no call of this turn is delivered. */
  error?: Error;
  reason?: FinishReason;
}

/** A turn, or a function that chooses one by the request, for example by the last tool result. */
export type ScriptStep = ScriptedTurn | ((request: ModelRequest) => ScriptedTurn | Promise<ScriptedTurn>);

/**
 * A model that follows a script, for demonstrations and tests. Its id and provider say so; it never pretends to be a real
 * model.
 */
export class ScriptedModel implements Model {
  readonly id = 'scripted';
  readonly provider = 'scripted';
  readonly contextWindow: number;
  readonly supports = { images: true, tools: true, pdf: true };
  /** Every request so far, oldest first. */
  readonly requests: ModelRequest[] = [];
  readonly #steps: readonly ScriptStep[];

  /** After its last step the model answers `(end of the script)`. */
  constructor(steps: readonly ScriptStep[], options: { contextWindow?: number } = {}) {
    this.#steps = steps;
    this.contextWindow = options.contextWindow ?? 128_000;
  }

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    signal.throwIfAborted();
    const index = this.requests.push(request) - 1;
    const step = this.#steps[index] ?? { text: '(end of the script)' };
    const turn = typeof step === 'function' ? await step(request) : step;
    if (turn.delayMs) await sleep(turn.delayMs, undefined, { signal });
    if (turn.reasoning) yield { type: 'reasoning-delta', text: turn.reasoning };
    for (const text of words(turn.text ?? '')) yield { type: 'text-delta', text };
    signal.throwIfAborted();
    if (turn.error) throw turn.error;
    yield* finish(turn, index, request);
  }
}

function* finish(turn: ScriptedTurn, index: number, request: ModelRequest): Generator<ModelEvent> {
  const parts: Part[] = [];
  if (turn.reasoning) parts.push({ text: turn.reasoning, thought: true });
  if (turn.text) parts.push({ text: turn.text });
  let count = 0;
  for (const { id = `scripted_${index}_${count}`, name, args = {} } of turn.calls ?? []) {
    count += 1;
    const call = { id, name, args };
    parts.push({ functionCall: call });
    yield { type: 'call', call };
  }
  for (const { name, problem } of turn.brokenCalls ?? []) {
    const id = `scripted_${index}_${count++}`;
    parts.push({ functionCall: { id, name, args: {} } });
    yield { type: 'broken-call', id, name, problem };
  }
  const message: Message = { role: 'model', parts, provider: 'scripted' };
  const usage = {
    inputTokens: estimateRequestTokens(request),
    outputTokens: estimateTokens(JSON.stringify(parts)),
    cachedInputTokens: 0,
    reasoningTokens: 0,
    isEstimate: true,
  };
  yield { type: 'finish', reason: turn.reason ?? (count > 0 ? 'calls' : 'stop'), usage, message };
}

/** Splits text like a model sends it: words with the white space before them. */
function words(text: string): string[] {
  return text.match(/\s*\S+|\s+$/g) ?? [];
}
