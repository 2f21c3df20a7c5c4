import type { Completion, CompletionSource } from './completions.js';

/** Finds candidates for the typed text in the background, so that no key waits for them. */
export class Completer {
  readonly #listeners = new Set<() => void>();
  #sources: readonly CompletionSource[] = [];
  #input = { text: '', cursor: 0 };
  #search = new AbortController();
  #current: Completion | undefined;
  #isFresh = true;

  /** The first source that returns a completion wins. */
  setSources(sources: readonly CompletionSource[]): void {
    this.#sources = sources;
  }

  /** The completion to show. During a new search it is the previous one, so that the list does not flicker. */
  get current(): Completion | undefined {
    return this.#current;
  }

  /** The completion that a key may accept; `undefined` if the text has changed since. */
  get fresh(): Completion | undefined {
    return this.#isFresh ? this.#current : undefined;
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  update(text: string, cursor: number): void {
    this.#input = { text, cursor };
    this.#isFresh = false;
    this.refresh();
  }

  /** Searches again, because a source has changed. */
  refresh(): void {
    this.#search.abort();
    this.#search = new AbortController();
    void this.#find(this.#search.signal);
  }

  /** Offers nothing more for this text. */
  dismiss(): void {
    this.#search.abort();
    this.#show(undefined);
  }

  /** Synchronous results are shown in the same frame as the key. */
  async #find(signal: AbortSignal): Promise<void> {
    const { text, cursor } = this.#input;
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
