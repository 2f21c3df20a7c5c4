import type { Pace } from '../files/pace.js';
import { type Attributes, after, attributesOf, decodeEntities, endOfElement, endOfTag } from './html-tokens.js';
import { isChrome, isHidden, isScopeRoot, type PageScope } from './page-scope.js';

/** The part of a page that is read, as HTML in pieces between which a converter can rest. */
export interface ReadableHtml {
  title: string;
  pieces: string[];
  /** Pieces of text that are in the page but not on the screen; they are left out. */
  hiddenTexts: number;
}

/**
 * Leaves out of a page what surrounds its content, what is hidden in it, scripts and comments, and makes its links
 * absolute. Takes time in proportion to the length of the page, whatever is in it; nothing is run or loaded.
 */
export async function readableHtml(html: string, base: URL, scope: PageScope, pace: Pace): Promise<ReadableHtml> {
  const reader = new Reader(html, base, scope);
  while (reader.step()) if (pace.isTired) await pace.rest();
  return reader;
}

/** What is known about an element from itself and from what it stands in. */
interface OpenElement {
  name: string;
  /** Below the element that is read. */
  isInside: boolean;
  /** Below `main` or `article`, where less is taken for chrome. */
  isContent: boolean;
  isHidden: boolean;
  isLeftOut: boolean;
}

const pieceLength = 16 * 1024;

class Reader implements ReadableHtml {
  title = '';
  readonly pieces: string[] = [];
  hiddenTexts = 0;
  readonly #html: string;
  readonly #scope: PageScope;
  readonly #outermost: OpenElement;
  readonly #open: OpenElement[] = [];
  readonly #counts = new Map<string, number>();
  #base: URL;
  #piece = '';
  #at = 0;

  constructor(html: string, base: URL, scope: PageScope) {
    this.#html = html;
    this.#base = base;
    this.#scope = scope;
    this.#outermost = { ...outermost, isInside: scope === 'body' };
  }

  /** Works through about one piece; false at the end of the page. */
  step(): boolean {
    const stop = this.#at + pieceLength;
    while (this.#at < stop) {
      const next = this.#html.indexOf('<', this.#at);
      this.#passText(next === -1 ? this.#html.length : next);
      if (next === -1) {
        this.#cut();
        return false;
      }
      this.#at = this.#passMarkup(next);
    }
    return true;
  }

  get #top(): OpenElement {
    return this.#open.at(-1) ?? this.#outermost;
  }

  #passText(end: number): void {
    const { isInside, isHidden: isUnseen, isLeftOut } = this.#top;
    if (isUnseen && isInside && /\p{L}{3}/u.test(this.#html.slice(this.#at, Math.min(end, this.#at + 1000))))
      this.hiddenTexts++;
    if (isInside && !isLeftOut) this.#writeText(end);
    this.#at = end;
  }

  /** Long text is cut at a space, with a tag that means nothing at the end. */
  #writeText(end: number): void {
    while (end - this.#at > pieceLength) {
      const space = this.#html.lastIndexOf(' ', this.#at + pieceLength);
      const cut = space > this.#at ? space + 1 : this.#at + pieceLength;
      this.#piece += `${this.#html.slice(this.#at, cut)}<wbr>`;
      this.#cut();
      this.#at = cut;
    }
    this.#piece += this.#html.slice(this.#at, end);
  }

  /** Reads what begins with the sign at `at`; returns where it ends. */
  #passMarkup(at: number): number {
    const html = this.#html;
    if (html.startsWith('<!--', at)) return after(html, '-->', at + 4);
    tagName.lastIndex = at;
    const [, slash = '', written = ''] = tagName.exec(html) ?? [];
    const end = written !== '' || /[!?/]/.test(html[at + 1] ?? '') ? endOfTag(html, at) : undefined;
    // A sign that opens nothing is text; as an entity it cannot be taken for more by anybody.
    if (end === undefined) {
      this.#write('&lt;');
      return at + 1;
    }
    const name = written.toLowerCase();
    if (slash !== '') this.#close(name);
    else if (name === 'title' && this.#top.name !== 'svg') return this.#readTitle(end);
    else if (rawText.has(name)) return endOfElement(html, name, end);
    else if (name !== '') this.#enter(name, html.slice(at, end));
    return end;
  }

  #readTitle(from: number): number {
    const end = endOfElement(this.#html, 'title', from);
    const text = this.#html.slice(from, Math.min(end, from + 2000)).replace(/<\/title[\s\S]*$/i, '');
    this.title ||= decodeEntities(text).replace(/\s+/g, ' ').trim().slice(0, 300);
    return end;
  }

  #enter(name: string, tag: string): void {
    while (endsBefore(this.#top.name, name)) this.#pop();
    const attributes = tag.length > name.length + 3 ? attributesOf(tag) : noAttributes;
    if (name === 'base') this.#rebase(attributes['href']);
    const element = this.#judge(name, attributes);
    if (element.isInside && !element.isLeftOut) this.#write(this.#rewritten(name, tag, attributes));
    if (voidElements.has(name)) return;
    this.#open.push(element);
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }

  #judge(name: string, attributes: Attributes): OpenElement {
    const outer = this.#top;
    const own = { name, attributes };
    const isContent = outer.isContent || isScopeRoot(own, 'main') || isScopeRoot(own, 'article');
    const isHiddenToo = outer.isHidden || isHidden(own);
    return {
      name,
      isInside: outer.isInside || isScopeRoot(own, this.#scope),
      isContent,
      isHidden: isHiddenToo,
      isLeftOut: outer.isLeftOut || isHiddenToo || name === 'head' || isChrome(own, isContent),
    };
  }

  /** An end tag of something that is not open means nothing. */
  #close(name: string): void {
    if (!this.#counts.get(name)) return;
    for (;;) {
      const element = this.#pop();
      if (element?.name !== name) continue;
      if (element.isInside && !element.isLeftOut) this.#write(`</${name}>`);
      return;
    }
  }

  #pop(): OpenElement | undefined {
    const element = this.#open.pop();
    if (element) this.#counts.set(element.name, (this.#counts.get(element.name) ?? 1) - 1);
    return element;
  }

  #rebase(href: string | undefined): void {
    if (href !== undefined && URL.canParse(href, this.#base.href)) this.#base = new URL(href, this.#base);
  }

  /** Only what the converter looks at, and addresses in full. What runs or carries data is no address to go to. */
  #rewritten(name: string, tag: string, attributes: Attributes): string {
    if (name === 'a') return `<a${this.#address('href', attributes['href'])}>`;
    if (name === 'img')
      return `<img${this.#address('src', attributes['src'])} alt="${quoted(attributes['alt'] ?? '')}">`;
    const language = /(?:^|\s)lang(?:uage)?-([\w+#.-]{1,30})/.exec(attributes['class'] ?? '')?.[1];
    if (name === 'code' || name === 'pre')
      return language === undefined ? `<${name}>` : `<${name} class="language-${language}">`;
    return keptAttributes.has(name) ? tag : `<${name}>`;
  }

  #address(name: string, value: string | undefined): string {
    if (value === undefined || !URL.canParse(value, this.#base.href)) return '';
    const url = new URL(value, this.#base);
    return /^(?:https?|mailto|ftp):$/.test(url.protocol) ? ` ${name}="${quoted(url.href)}"` : '';
  }

  #write(markup: string): void {
    const { isInside, isLeftOut } = this.#top;
    if (markup === '&lt;' && (!isInside || isLeftOut)) return;
    this.#piece += markup;
    if (this.#piece.length < pieceLength) return;
    // Signs without end would else grow into one text that is looked at again and again.
    if (markup === '&lt;') this.#piece += '<wbr>';
    this.#cut();
  }

  #cut(): void {
    if (this.#piece !== '') this.pieces.push(this.#piece);
    this.#piece = '';
  }
}

const tagName = /<(\/?)([a-z][a-z0-9:-]{0,30})/iy;

const noAttributes: Attributes = {};
const outermost: OpenElement = { name: '', isInside: false, isContent: false, isHidden: false, isLeftOut: false };

const setOf = (names: string) => new Set(names.split(' '));
/** What browsers read without looking for tags in it, and nobody sees. */
const rawText = setOf('script style iframe noembed noframes xmp textarea');
const voidElements = setOf('area base br col embed hr img input link meta param source track wbr');
/** Elements whose attributes mean something in Markdown. */
const keptAttributes = setOf('td th ol li col colgroup');
const cells = setOf('td th');
const terms = setOf('dt dd');
const blocks = setOf(
  'p div section article main header footer aside nav ul ol dl table pre blockquote figure form h1 h2 h3 h4 h5 h6 hr details address',
);

/** Whether an open element ends where the next begins, although nobody says so. */
function endsBefore(open: string, next: string): boolean {
  if (open === 'p') return blocks.has(next);
  if (open === 'li') return next === 'li';
  if (terms.has(open)) return terms.has(next);
  if (cells.has(open)) return cells.has(next) || next === 'tr';
  return open === 'tr' && next === 'tr';
}

function quoted(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
}
