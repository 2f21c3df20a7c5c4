/** Keeps the first `limit` of any number of items in sort order, in memory bounded by `limit`. */
export class Top<T> {
  readonly #limit: number;
  readonly #compare: (a: T, b: T) => number;
  #kept: T[] = [];
  #last: T | undefined;
  #count = 0;

  constructor(limit: number, compare: (a: T, b: T) => number) {
    this.#limit = limit;
    this.#compare = compare;
  }

  /** The number of all items. */
  get count(): number {
    return this.#count;
  }

  /** The last kept item, once `limit` items are kept. Items after it need not be added, only counted. */
  get last(): T | undefined {
    return this.#last;
  }

  /** Counts an item after the last one. */
  skip(): void {
    this.#count++;
  }

  add(item: T): void {
    this.#count++;
    if (this.#last !== undefined && this.#compare(item, this.#last) > 0) return;
    // Sorting from time to time is cheaper than keeping the items sorted.
    if (this.#kept.push(item) >= 2 * this.#limit + 64) this.#cut();
  }

  items(): T[] {
    this.#cut();
    return this.#kept;
  }

  #cut(): void {
    this.#kept = this.#kept.sort(this.#compare).slice(0, this.#limit);
    if (this.#kept.length === this.#limit) this.#last = this.#kept.at(-1);
  }
}
