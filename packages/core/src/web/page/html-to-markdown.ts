import { Yielder } from '../../async/yielder.js';
import type { PageScope } from './page-scope.js';
import { type ReadablePage, readableHtml } from './readable-html.js';

/** If the main part has less text than this, the whole page is read instead. */
const tooLittle = 200;

/**
 * The readable part of a page as Markdown: headings, text, code, tables and links, which become absolute. Reads the
 * page in small steps and yields to the event loop in between.
 */
export async function htmlToMarkdown(html: string, base: URL, signal: AbortSignal): Promise<ReadablePage> {
  let best: ReadablePage | undefined;
  const yielder = new Yielder(signal);
  for (const scope of await scopesOf(html, yielder)) {
    const page = await readableHtml(html, base, scope, yielder);
    if (best === undefined || page.markdown.length > best.markdown.length * 2) best = page;
    if (best.markdown.length >= tooLittle) break;
  }
  return best ?? { title: '', markdown: '', hiddenTexts: 0 };
}

/** The parts that can be read, best first. If the name is only in a comment, the part is empty and the next one is tried. */
async function scopesOf(html: string, yielder: Yielder): Promise<PageScope[]> {
  let [hasMain, hasArticle] = [false, false];
  for (let at = 0; at < html.length; at += windowLength) {
    // Overlaps, for a tag that begins in one window and ends in the next.
    const window = html.slice(at, at + windowLength + 32);
    hasMain ||= /<main[\s>]|\srole\s?=\s?["']?main\b/i.test(window);
    hasArticle ||= /<article[\s>]/i.test(window);
    if (yielder.shouldYield) await yielder.yield();
  }
  return [...(hasMain ? ['main' as const] : []), ...(hasArticle ? ['article' as const] : []), 'body'];
}

const windowLength = 64 * 1024;
