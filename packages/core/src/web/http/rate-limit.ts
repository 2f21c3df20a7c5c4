import { ToolError } from '../../contract/errors.js';

/** Limits the requests to one host per minute. A request above the limit is rejected at once, never queued. */
export class RateLimit {
  readonly #perMinute: number;
  readonly #recent = new Map<string, number[]>();

  constructor(perMinute: number) {
    this.#perMinute = perMinute;
  }

  count(host: string): void {
    const now = performance.now();
    const times = (this.#recent.get(host) ?? []).filter((time) => now - time < 60_000);
    if (times.length >= this.#perMinute)
      throw new ToolError(
        'web_fetch_fallback_failed',
        `${host} got ${times.length} requests within a minute. Wait, or use the pages you have.`,
      );
    this.#recent.delete(host);
    this.#recent.set(host, [...times, now]);
    const [oldest] = this.#recent.keys();
    if (this.#recent.size > maxHosts && oldest !== undefined) this.#recent.delete(oldest);
  }
}

const maxHosts = 1000;
