import { Pace } from '../files/pace.js';
import type { PageScope } from './page-scope.js';
import { readableHtml } from './readable-html.js';

export interface ReadablePage {
  title: string;
  markdown: string;
  /** Pieces of text that are in the page but not on the screen; they are left out. */
  hiddenTexts: number;
}

/** Less than this from the part that calls itself the main one, and the whole page is read instead. */
const tooLittle = 200;

/**
 * The readable part of a page as Markdown: headings, text, code, tables and links, which become absolute. The page is
 * converted a piece at a time, and other work gets its turn in between.
 */
export async function htmlToMarkdown(html: string, base: URL, signal: AbortSignal): Promise<ReadablePage> {
  let best: ReadablePage | undefined;
  for (const scope of scopesOf(html)) {
    const { title, pieces, hiddenTexts } = await readableHtml(html, base, scope, new Pace(signal));
    const page = { title, markdown: await convert(pieces, signal), hiddenTexts };
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

async function convert(pieces: readonly string[], signal: AbortSignal): Promise<string> {
  // Without plugins: with one, the converter keeps all it has written and goes over it again and again.
  const { streamHtmlToMarkdown } = await import('@mdream/js/core');
  const chunks: string[] = [];
  for await (const chunk of streamHtmlToMarkdown(paced(pieces, signal), { plugins: { tagOverrides } }))
    chunks.push(chunk);
  return tidy(chunks.join(''), new Pace(signal));
}

function paced(pieces: readonly string[], signal: AbortSignal): ReadableStream<string> {
  const pace = new Pace(signal);
  let next = 0;
  return new ReadableStream<string>(
    {
      async pull(controller) {
        if (pace.isTired) await pace.rest();
        const piece = pieces[next++];
        if (piece === undefined) controller.close();
        else controller.enqueue(piece);
      },
    },
    { highWaterMark: 0 },
  );
}

/** Elements that Markdown has no sign for, as ones that it has. */
const tagOverrides = { dl: 'div', dt: 'p', dd: 'p', address: 'p', mark: 'strong' };

/** Characters that no reader sees go, spaces at the ends of lines, and all but one of several empty lines outside code. */
async function tidy(markdown: string, pace: Pace): Promise<string> {
  const lines: string[] = [];
  let fence: string | undefined;
  for (const line of markdown.split('\n')) {
    if (pace.isTired) await pace.rest();
    const text = line.replace(unseen, '').trimEnd();
    const [, sign] = /^\s*(`{3,})/.exec(text.slice(0, 100)) ?? [];
    if (fence === undefined) fence = sign;
    else if (sign !== undefined && sign.length >= fence.length) fence = undefined;
    if (text !== '' || fence !== undefined || lines.at(-1) !== '') lines.push(text);
  }
  return lines.join('\n').trim();
}

const unseen = /[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e0fff}]/gu;
