import { estimateRequestTokens } from '../estimate-tokens.js';
import type { Effort, Model, ModelEvent, ModelFeatures, ModelRequest } from '../model.js';
import { ModelError, type ModelErrorKind } from '../model-error.js';

/** A model to continue with, opened when it is needed. */
export interface Fallback {
  name: string;
  open: (signal: AbortSignal) => Promise<Model>;
}

/** What another model may be better at. A wrong key or a wrong request is for the person to fix. */
const reasons: ReadonlySet<ModelErrorKind> = new Set([
  'quota',
  'rate-limit',
  'overloaded',
  'network',
  'timeout',
  'too-long',
]);

/**
 * A model that continues with the next one of a list when it cannot answer, and stays with it. It never switches within an
 * answer whose calls were delivered: the next model repeats the whole request.
 */
export class FallbackModel implements Model {
  #current: Model;
  readonly #left: Fallback[];

  constructor(first: Model, fallbacks: readonly Fallback[]) {
    this.#current = first;
    this.#left = [...fallbacks];
  }

  get id(): string {
    return this.#current.id;
  }

  get provider(): string {
    return this.#current.provider;
  }

  get contextWindow(): number {
    return this.#current.contextWindow;
  }

  get supports(): ModelFeatures {
    return this.#current.supports;
  }

  get effortLevels(): readonly Effort[] | undefined {
    return this.#current.effortLevels;
  }

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    for (;;) {
      let hasCalls = false;
      const asked = this.#current;
      try {
        for await (const event of asked.stream(request, signal)) {
          hasCalls ||= event.type === 'call' || event.type === 'broken-call';
          yield event.type === 'finish' ? { ...event, model: { id: asked.id, provider: asked.provider } } : event;
        }
        return;
      } catch (error) {
        signal.throwIfAborted();
        if (hasCalls || !(error instanceof ModelError) || !reasons.has(error.kind)) throw error;
        // A subagent may have switched meanwhile.
        const problems = this.#current === asked ? await this.#switch(error, request, signal) : [];
        const reason = [`${asked.id} cannot answer: ${error.message}`, ...problems].join(' ');
        yield { type: 'fallback', model: this.#current.id, reason };
        this.#checkSize(request);
      }
    }
  }

  /** Some local servers silently cut a request that is too long. */
  #checkSize(request: ModelRequest): void {
    const { id, contextWindow } = this.#current;
    if (estimateRequestTokens(request) > contextWindow)
      throw new ModelError('too-long', `The conversation does not fit into the context of ${id}.`);
  }

  /** Opens the next model that can be used. Throws `error` when there is none. */
  async #switch(error: ModelError, request: ModelRequest, signal: AbortSignal): Promise<string[]> {
    const problems: string[] = [];
    const before = this.#current;
    for (const fallback of this.#left.slice()) {
      const model = await open(fallback, request, signal);
      if (this.#current !== before) return problems;
      // A window that is not larger does not help; the history is then shortened instead.
      if (error.kind === 'too-long' && typeof model === 'object' && model.contextWindow <= this.contextWindow) continue;
      this.#left.splice(this.#left.indexOf(fallback), 1);
      if (typeof model === 'object') {
        this.#current = model;
        return problems;
      }
      problems.push(`${fallback.name} cannot be used: ${model}`);
    }
    if (problems.length === 0) throw error;
    const { kind, status } = error;
    throw new ModelError(kind, [error.message, ...problems].join(' '), { cause: error, status, isTransient: false });
  }
}

/** The model, or why it cannot be used. */
async function open(
  { open: openModel }: Fallback,
  request: ModelRequest,
  signal: AbortSignal,
): Promise<Model | string> {
  try {
    const model = await openModel(signal);
    return (await request.refuses?.(model)) ?? model;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ModelError) return error.message;
    throw error;
  }
}
