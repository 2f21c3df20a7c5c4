import type { WebPage } from './read-page.js';

const maxPages = 32;
const maxChars = 20_000_000;
const maxAgeMs = 15 * 60_000;

/** Caches the pages of this session, so that a second question about a page needs no second request. */
export class PageCache {
  readonly #pages = new Map<string, { page: WebPage; at: number; size: number }>();
  #size = 0;

  get(url: string): WebPage | undefined {
    const found = this.#pages.get(url);
    if (!found) return undefined;
    if (performance.now() - found.at < maxAgeMs) return found.page;
    this.#drop(url);
    return undefined;
  }

  set(url: string, page: WebPage): void {
    const { content } = page;
    const size = content.type === 'text' ? content.text.length : (content.part.inlineData?.data?.length ?? 0);
    this.#drop(url);
    this.#pages.set(url, { page, at: performance.now(), size });
    this.#size += size;
    for (const oldest of this.#pages.keys()) {
      if (this.#pages.size <= maxPages && this.#size <= maxChars) return;
      this.#drop(oldest);
    }
  }

  #drop(url: string): void {
    this.#size -= this.#pages.get(url)?.size ?? 0;
    this.#pages.delete(url);
  }
}
