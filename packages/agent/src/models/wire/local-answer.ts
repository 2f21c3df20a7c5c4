import type { ModelEvent, ModelRequest } from '../model.js';
import { Answer } from './answer.js';
import { readTextCalls } from './text-calls.js';

const opening = '<think>';
const closing = '</think>';

/** Beginnings of an answer that may turn out to be a call. */
const callBeginnings = ['<tool_call>', '<function=', '```json', '```tool_call', '```tool_code'];

/**
 * The answer of a server that passes on what a local model writes: reasoning arrives between `<think>` tags, and calls
 * may arrive as text. Text that could become a call is held back until the answer is complete.
 */
export class LocalAnswer extends Answer {
  readonly #declared: ReadonlySet<string>;
  readonly #mayHoldCalls: boolean;
  #state: 'beginning' | 'thinking' | 'held' | 'plain' = 'beginning';
  #buffer = '';
  #hasCalls = false;

  constructor(request: ModelRequest, provider: string) {
    super(request, provider);
    this.#declared = new Set(request.tools.flatMap(({ name }) => name ?? []));
    this.#mayHoldCalls = this.#declared.size > 0 && request.responseSchema === undefined;
  }

  override text(text: string): void {
    if (this.#state === 'plain') return super.text(text);
    this.#buffer += text;
    if (this.#state === 'beginning') this.#lookAtBeginning();
    if (this.#state === 'thinking') this.#think();
  }

  override call(fragment: Parameters<Answer['call']>[0]): void {
    this.#hasCalls = true;
    super.call(fragment);
  }

  override *finish(): Generator<ModelEvent> {
    const mayBeCalls = this.#state === 'held' && this.reason === 'stop' && !this.#hasCalls;
    const calls = mayBeCalls ? readTextCalls(this.#buffer, this.#declared) : undefined;
    if (this.#state === 'thinking') super.reasoning(this.#buffer);
    else if (!calls) super.text(this.#buffer);
    this.#buffer = '';
    for (const call of calls ?? []) super.call(call);
    yield* this.takeDeltas();
    yield* super.finish();
  }

  #lookAtBeginning(): void {
    const text = this.#buffer.trimStart();
    if (text.startsWith(opening)) {
      this.#state = 'thinking';
      this.#buffer = text.slice(opening.length);
      return;
    }
    const beginnings = this.#mayHoldCalls ? [opening, ...callBeginnings] : [opening];
    if (beginnings.some((beginning) => beginning.startsWith(text))) return;
    const isJson = this.#mayHoldCalls && /^[[{]/.test(text);
    if (isJson && text.length < 30) return;
    this.#state = this.#mayHoldCalls && looksLikeCall(text) ? 'held' : 'plain';
    if (this.#state === 'held') return;
    super.text(this.#buffer);
    this.#buffer = '';
  }

  #think(): void {
    const end = this.#buffer.indexOf(closing);
    if (end >= 0) {
      super.reasoning(this.#buffer.slice(0, end));
      this.#buffer = this.#buffer.slice(end + closing.length).trimStart();
      this.#state = 'beginning';
      return this.#lookAtBeginning();
    }
    // The closing tag may be split between two chunks.
    const safe = Math.max(0, this.#buffer.length - closing.length);
    super.reasoning(this.#buffer.slice(0, safe));
    this.#buffer = this.#buffer.slice(safe);
  }
}

function looksLikeCall(text: string): boolean {
  const isJsonCall = /^\[?\s*\{\s*"(?:name|type|function|arguments|parameters)"/.test(text);
  return isJsonCall || callBeginnings.some((beginning) => text.startsWith(beginning));
}
