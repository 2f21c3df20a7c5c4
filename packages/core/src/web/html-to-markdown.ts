import { Pace } from '../files/pace.js';
import type { PageScope } from './page-scope.js';
import { type ReadablePage, readableHtml } from './readable-html.js';

/** Less than this from the part that calls itself the main one, and the whole page is read instead. */
const tooLittle = 200;

/**
 * The readable part of a page as Markdown: headings, text, code, tables and links, which become absolute. The page is
 * read a piece at a time, and other work gets its turn in between.
 */
export async function htmlToMarkdown(html: string, base: URL, signal: AbortSignal): Promise<ReadablePage> {
  let best: ReadablePage | undefined;
  for (const scope of scopesOf(html)) {
    const page = await readableHtml(html, base, scope, new Pace(signal));
    if (best === undefined || page.markdown.length > best.markdown.length * 2) best = page;
    if (best.markdown.length >= tooLittle) break;
  }
  return best ?? { title: '', markdown: '', hiddenTexts: 0 };
}

/** The parts that can be read, best first. A name in a comment does no harm: nothing is found, and the next is tried. */
function scopesOf(html: string): PageScope[] {
  const scopes: PageScope[] = ['body'];
  if (/<article[\s>]/i.test(html)) scopes.unshift('article');
  if (/<main[\s>]|\srole\s?=\s?["']?main\b/i.test(html)) scopes.unshift('main');
  return scopes;
}
