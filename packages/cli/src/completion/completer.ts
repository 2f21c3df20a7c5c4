import type { Completion, CompletionSource } from './completions.js';

/** The candidates for what is being typed, found beside the typing: no key ever waits for them. */
export class Completer {
  readonly #listeners = new Set<() => void>();
  #sources: readonly CompletionSource[] = [];
  #asked = { text: '', cursor: 0 };
  #work = new AbortController();
  #current: Completion | undefined;
  #isFresh = true;

  /** The first source that has something to say is heard. */
  use(sources: readonly CompletionSource[]): void {
    this.#sources = sources;
  }

  /** To be shown; while new ones are looked for these are the old ones, so that the list does not flicker. */
  get current(): Completion | undefined {
    return this.#current;
  }

  /** To be taken: never candidates for a text that has changed since. */
  get fresh(): Completion | undefined {
    return this.#isFresh ? this.#current : undefined;
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  ask(text: string, cursor: number): void {
    this.#asked = { text, cursor };
    this.#isFresh = false;
    this.again();
  }

  /** Looks once more: a source knows more than before. */
  again(): void {
    this.#work.abort();
    this.#work = new AbortController();
    void this.#look(this.#work.signal);
  }

  /** Nothing more is offered for this text. */
  dismiss(): void {
    this.#work.abort();
    this.#show(undefined);
  }

  /** What is known at once is shown with the key that asked for it. */
  async #look(signal: AbortSignal): Promise<void> {
    const { text, cursor } = this.#asked;
    for (const source of this.#sources) {
      const answer = source(text, cursor, signal);
      const completion = answer instanceof Promise ? await answer.catch(() => undefined) : answer;
      if (signal.aborted) return;
      if (completion) return this.#show(completion.candidates.length > 0 ? completion : undefined);
    }
    this.#show(undefined);
  }

  #show(completion: Completion | undefined): void {
    this.#isFresh = true;
    if (this.#current === completion) return;
    this.#current = completion;
    for (const listener of this.#listeners) listener();
  }
}
