import type { Message, Model, ModelEvent, ModelFeatures, ModelRequest } from '../model.js';
import { ModelError } from '../model-error.js';
import { comparable, conversationKey, type Exchange, readRecording } from './recording.js';

/**
 * Answers from a recording, without a key or a network. A request gets the answer that the same conversation got in the
 * recording. When the conversation differs, the error says where.
 */
export class ReplayModel implements Model {
  readonly id: string;
  readonly provider: string;
  readonly contextWindow: number;
  readonly supports: ModelFeatures;
  readonly #left: Exchange[];
  readonly #count: number;
  readonly #secrets: readonly string[];

  constructor(path: string, secrets: readonly string[] = []) {
    const { model, exchanges } = readRecording(path);
    this.id = model.id;
    this.provider = model.provider;
    this.contextWindow = model.contextWindow;
    this.supports = model.supports;
    this.#left = exchanges;
    this.#count = exchanges.length;
    this.#secrets = secrets;
  }

  /** The number of recorded answers that are not used yet. */
  get remaining(): number {
    return this.#left.length;
  }

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    signal.throwIfAborted();
    const key = conversationKey(request, this.#secrets);
    const index = this.#left.findIndex(({ conversation }) => conversation === key);
    const [exchange] = index < 0 ? [] : this.#left.splice(index, 1);
    if (!exchange) throw new ModelError('bad-request', this.#difference(request));
    if (exchange.error) throw new ModelError(exchange.error.kind, exchange.error.message, { isTransient: false });
    yield* eventsOf(exchange.answer);
  }

  #difference({ history }: ModelRequest): string {
    const [next] = this.#left;
    const place = `The replay differs from the recording at request ${this.#count - this.#left.length + 1} of ${this.#count}`;
    if (!next) return `The recording is over: all of its ${this.#count} answers are used.`;
    const asked = history.slice(history.findLastIndex(({ role }) => role === 'model') + 1);
    const [recorded, now] = [describe(next.asked), describe(asked)];
    if (recorded === now) return `${place}: an earlier part of the conversation is different.`;
    return `${place}. Recorded: ${recorded} Now: ${now}`;
  }
}

function* eventsOf(answer: Exchange['answer']): Generator<ModelEvent> {
  if (!answer) return;
  const { message, reason, usage, problems } = answer;
  for (const { text, thought, functionCall } of message.parts) {
    if (text) yield thought ? { type: 'reasoning-delta', text } : { type: 'text-delta', text };
    if (!functionCall) continue;
    const { id = '', name = '', args = {} } = functionCall;
    const problem = problems[id];
    yield problem === undefined
      ? { type: 'call', call: { id, name, args } }
      : { type: 'broken-call', id, name, problem };
  }
  yield { type: 'finish', reason, usage, message };
}

const maxShown = 300;

function describe(messages: readonly Message[]): string {
  const text = JSON.stringify(messages.map(comparable));
  return text.length > maxShown ? `${text.slice(0, maxShown)}…` : text;
}
