import type { Pace } from '../files/pace.js';
import type { PageScope } from './page-scope.js';

/** A page cut into pieces between which a parser can rest, without what it would only have to throw away. */
export interface SplitPage {
  pieces: string[];
  /** The parts that can be read, best first. */
  scopes: PageScope[];
}

const pieceLength = 32 * 1024;
/** Longer than any tag that an author wrote. */
const maxTagLength = 64 * 1024;

/**
 * Cuts at the ends of tags, so that no parser has to look at anything twice, and leaves out comments, scripts and
 * styles. Takes time in proportion to the length of the page, whatever is in it.
 */
export async function splitHtml(html: string, pace: Pace): Promise<SplitPage> {
  const splitter = new Splitter(html);
  while (splitter.step()) if (pace.isTired) await pace.rest();
  const scopes: PageScope[] = ['body'];
  if (splitter.hasArticle) scopes.unshift('article');
  if (splitter.hasMain) scopes.unshift('main');
  return { pieces: splitter.pieces, scopes };
}

class Splitter {
  readonly pieces: string[] = [];
  hasMain = false;
  hasArticle = false;
  readonly #html: string;
  #piece = '';
  /** What lies between start and here still has to go to the piece. */
  #start = 0;
  #at = 0;

  constructor(html: string) {
    this.#html = html;
  }

  /** Works through about one piece; false at the end of the page. */
  step(): boolean {
    const stop = this.#at + pieceLength;
    while (this.#at < stop) {
      const next = this.#html.indexOf('<', this.#at);
      this.#passText(next === -1 ? this.#html.length : next);
      if (next !== -1) this.#passMarkup(next);
      else {
        this.#keep(this.#html.length);
        this.#cut();
        return false;
      }
    }
    return true;
  }

  /** Long text is cut at a space, with a tag that means nothing at the end. */
  #passText(end: number): void {
    while (end - this.#at > pieceLength) {
      const space = this.#html.lastIndexOf(' ', this.#at + pieceLength);
      this.#at = space > this.#at ? space + 1 : this.#at + pieceLength;
      this.#keep(this.#at);
      this.#piece += '<wbr>';
      this.#cut();
    }
    this.#at = end;
  }

  #passMarkup(at: number): void {
    const html = this.#html;
    if (html.startsWith('<!--', at)) return this.#replace(at, after(html, '-->', at + 4), '');
    const end = /[a-z!?/]/i.test(html[at + 1] ?? '') ? endOfTag(html, at) : undefined;
    // A sign that opens nothing is text; as an entity it cannot be taken for more by anybody.
    if (end === undefined) return this.#replace(at, at + 1, '&lt;');
    const tag = /^<([a-z][a-z0-9-]{0,20})/i.exec(html.slice(at, at + 24))?.[1]?.toLowerCase() ?? '';
    if (droppedContent.has(tag)) return this.#replace(at, endOfElement(html, tag, end), '');
    if (tag === 'article') this.hasArticle = true;
    if (tag === 'main' || roleMain.test(html.slice(at, Math.min(end, at + 1000)))) this.hasMain = true;
    this.#at = end;
    if (this.#piece.length + this.#at - this.#start < pieceLength) return;
    this.#keep(this.#at);
    this.#cut();
  }

  #keep(end: number): void {
    this.#piece += this.#html.slice(this.#start, end);
    this.#start = end;
  }

  #replace(from: number, to: number, by: string): void {
    this.#keep(from);
    this.#piece += by;
    this.#start = to;
    this.#at = to;
    // Signs without end would else grow into one text that is looked at again and again.
    if (this.#piece.length < pieceLength) return;
    this.#piece += '<wbr>';
    this.#cut();
  }

  #cut(): void {
    if (this.#piece !== '') this.pieces.push(this.#piece);
    this.#piece = '';
  }
}

const roleMain = /\srole\s*=\s*["']?main\b/i;

/** What browsers read without looking for tags in it, and nobody sees. */
const droppedContent = new Set(['script', 'style', 'iframe', 'noembed', 'noframes', 'xmp']);

function after(html: string, mark: string, from: number): number {
  const at = html.indexOf(mark, from);
  return at === -1 ? html.length : at + mark.length;
}

/** Behind the `>` that ends the tag; one in a quoted value does not. */
function endOfTag(html: string, start: number): number | undefined {
  const limit = Math.min(html.length, start + maxTagLength);
  let last = '';
  for (let at = start + 1; at < limit; at++) {
    const character = html[at] ?? '';
    if (character === '>') return at + 1;
    if ((character === '"' || character === "'") && last === '=') {
      at = html.indexOf(character, at + 1);
      if (at === -1 || at >= limit) return undefined;
      last = character;
    } else if (character > ' ') last = character;
  }
  return undefined;
}

function endOfElement(html: string, name: string, from: number): number {
  const close = new RegExp(`</${name}[\\s/>]`, 'gi');
  close.lastIndex = from;
  const match = close.exec(html);
  return match ? after(html, '>', match.index) : html.length;
}
