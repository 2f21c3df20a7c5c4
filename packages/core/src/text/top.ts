/** The first `limit` of any number of items in an order, in memory bounded by `limit`. */
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

  /** How many items there were in all. */
  get count(): number {
    return this.#count;
  }

  /** The last of those that are kept, once there are enough: what is behind it need not be added, only counted. */
  get last(): T | undefined {
    return this.#last;
  }

  /** Counts an item that is behind the last one. */
  skip(): void {
    this.#count++;
  }

  add(item: T): void {
    this.#count++;
    if (this.#last !== undefined && this.#compare(item, this.#last) > 0) return;
    // Sorting now and then, instead of keeping order all the time, costs less than a comparison per item.
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
