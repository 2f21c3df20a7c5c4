import type { Part } from '@lathe/core';
import { estimateMessageTokens, estimateRequestTokens } from '../estimate-tokens.js';
import type { FinishReason, Message, ModelEvent, ModelRequest, Usage } from '../model.js';
import { ModelError } from '../model-error.js';
import { CallAssembler, type CallFragment, type FinishedCall } from './call-assembler.js';

/** Token counts as far as a chunk states them. */
type ReportedUsage = { [K in Exclude<keyof Usage, 'isEstimate'> | 'freshInputTokens']?: number | undefined };

/** A longer answer is a model that repeats itself. */
const maxTextCharacters = 10 * 1024 * 1024;

/**
 * An answer while it arrives. A wire format adds what each chunk contains. Deltas are available at once, calls only
 * through `finish`, after the stream has ended properly.
 */
export class Answer {
  readonly #request: ModelRequest;
  readonly #provider: string;
  readonly #calls: CallAssembler;
  /** In order of arrival. A number is the position of a call. */
  readonly #items: { place: number; content: Part | number }[] = [];
  #place = 0;
  #deltas: ModelEvent[] = [];
  #reason: FinishReason | undefined;
  #usage: ReportedUsage = {};
  #characters = 0;

  constructor(request: ModelRequest, provider: string) {
    this.#request = request;
    this.#provider = provider;
    this.#calls = new CallAssembler(request);
  }

  /** Why the answer ended; `undefined` until the server says that it is over. */
  get reason(): FinishReason | undefined {
    return this.#reason;
  }

  /** Where the following content belongs in the message, for providers that send several items at the same time. */
  at(place: number): this {
    this.#place = place;
    return this;
  }

  get hasCalls(): boolean {
    return this.#items.some(({ content }) => typeof content === 'number');
  }

  get isEmpty(): boolean {
    return this.#items.length === 0;
  }

  hasContentAt(place: number): boolean {
    return this.#items.some((item) => item.place === place);
  }

  text(text: string, thoughtSignature?: string): void {
    this.#write({ text, ...(thoughtSignature && { thoughtSignature }) });
    if (text !== '') this.#deltas.push({ type: 'text-delta', text });
  }

  reasoning(text: string, thoughtSignature?: string): void {
    this.#write({ text, thought: true, ...(thoughtSignature && { thoughtSignature }) });
    if (text !== '') this.#deltas.push({ type: 'reasoning-delta', text });
  }

  call(fragment: CallFragment): void {
    const position = this.#calls.add(fragment);
    if (position !== undefined && !this.#items.some(({ content }) => content === position)) this.#push(position);
  }

  /** The call of this index is run by the provider: whatever its fragments say, it is not a call to us. */
  ignoreCall(index: number | undefined): void {
    this.#calls.ignore(index);
  }

  /**
   * Counts are totals so far, so the last one wins; a zero is not a correction. `freshInputTokens` are for providers that
   * count cached tokens apart from the input.
   */
  usage(usage: ReportedUsage): void {
    for (const [key, value] of Object.entries(usage))
      if (value !== undefined && !(value === 0 && key in this.#usage)) Object.assign(this.#usage, { [key]: value });
  }

  /** The last reason wins, but nothing overrides `length` and `filter`. */
  end(reason: FinishReason): void {
    if (this.#reason !== 'length' && this.#reason !== 'filter') this.#reason = reason;
  }

  /** The server ended the stream. If it gave no reason, the reason is `other`. */
  close(): void {
    this.#reason ??= 'other';
  }

  takeDeltas(): ModelEvent[] {
    const deltas = this.#deltas;
    this.#deltas = [];
    return deltas;
  }

  /** The calls and the one `finish` event. */
  *finish(): Generator<ModelEvent> {
    const calls = this.#calls.finish(this.#reason ?? 'other');
    const known = calls.filter((call) => call !== undefined);
    const parts = this.#items
      .toSorted((a, b) => a.place - b.place)
      .flatMap(({ content }) => (typeof content === 'number' ? partsOf(calls[content]) : content));
    for (const { call, problem } of known) {
      if (problem === undefined) yield { type: 'call', call };
      else yield { type: 'broken-call', id: call.id, name: call.name, problem };
    }
    const message: Message = { role: 'model', parts, provider: this.#provider };
    yield { type: 'finish', reason: this.#finalReason(known.length), usage: this.#finalUsage(message), message };
  }

  #write(part: Part): void {
    if (part.text === '' && !part.thoughtSignature) return;
    this.#characters += part.text?.length ?? 0;
    if (this.#characters > maxTextCharacters)
      throw new ModelError('bad-response', 'The answer did not end: over 10 MB of text.');
    const last = this.#items.findLast(({ place }) => place === this.#place)?.content;
    // A signature ends its part.
    const continues = typeof last === 'object' && last.thought === part.thought && !last.thoughtSignature;
    if (!continues) this.#push(part);
    else if (last) Object.assign(last, part, { text: `${last.text ?? ''}${part.text ?? ''}` });
  }

  #push(content: Part | number): void {
    this.#items.push({ place: this.#place, content });
  }

  #finalReason(calls: number): FinishReason {
    const reason = this.#reason ?? 'other';
    if (reason === 'length' || reason === 'filter') return reason;
    if (calls > 0) return 'calls';
    return reason === 'calls' ? 'other' : reason;
  }

  #finalUsage(message: Message): Usage {
    const { freshInputTokens: fresh, outputTokens, cachedInputTokens = 0, reasoningTokens = 0 } = this.#usage;
    const { cacheWriteTokens } = this.#usage;
    const whole = fresh === undefined ? undefined : fresh + cachedInputTokens + (cacheWriteTokens ?? 0);
    const inputTokens = this.#usage.inputTokens ?? whole;
    const isEstimate = inputTokens === undefined || outputTokens === undefined;
    return {
      inputTokens: inputTokens ?? estimateRequestTokens(this.#request),
      outputTokens: outputTokens ?? estimateMessageTokens(message),
      cachedInputTokens,
      ...(cacheWriteTokens && { cacheWriteTokens }),
      reasoningTokens,
      ...(isEstimate && { isEstimate }),
    };
  }
}

function partsOf(finished: FinishedCall | undefined): Part[] {
  if (!finished) return [];
  const { call, problem, thoughtSignature } = finished;
  const functionCall = problem === undefined ? call : { ...call, args: {} };
  return [{ functionCall, ...(thoughtSignature && { thoughtSignature }) }];
}
