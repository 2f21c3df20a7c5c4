import type { Pace } from '../files/pace.js';
import { decodeEntities } from './html-entities.js';
import { type Attributes, after, attributesOf, endOfElement, endOfTag } from './html-tokens.js';
import { MarkdownWriter, type WrittenElement } from './markdown-writer.js';
import { isChrome, isHidden, isScopeRoot, type PageScope } from './page-scope.js';

export interface ReadablePage {
  title: string;
  markdown: string;
  /** Pieces of text that are in the page but not on the screen; they are left out. */
  hiddenTexts: number;
}

/**
 * Reads one part of a page as Markdown. Leaves out what surrounds the content, what is hidden in it, scripts and
 * comments, and makes links absolute. Takes time in proportion to the length of the page, whatever is in it; nothing is
 * run or loaded.
 */
export async function readableHtml(html: string, base: URL, scope: PageScope, pace: Pace): Promise<ReadablePage> {
  const reader = new Reader(html, base, scope);
  while (reader.step()) if (pace.isTired) await pace.rest();
  return { title: reader.title, markdown: reader.markdown(), hiddenTexts: reader.hiddenTexts };
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

const stepLength = 16 * 1024;

class Reader {
  title = '';
  hiddenTexts = 0;
  readonly #writer = new MarkdownWriter();
  readonly #html: string;
  readonly #scope: PageScope;
  readonly #outermost: OpenElement;
  readonly #open: OpenElement[] = [];
  readonly #counts = new Map<string, number>();
  #base: URL;
  #at = 0;
  /** Where the next `<` stands, which is looked for once. */
  #sign = -1;

  constructor(html: string, base: URL, scope: PageScope) {
    this.#html = html;
    this.#base = base;
    this.#scope = scope;
    this.#outermost = { ...outermost, isInside: scope === 'body' };
  }

  /** Works through a small part; false at the end of the page. */
  step(): boolean {
    const html = this.#html;
    const stop = Math.min(html.length, this.#at + stepLength);
    while (this.#at < stop) {
      if (this.#sign < this.#at) this.#sign = html.indexOf('<', this.#at);
      if (this.#sign === -1) this.#sign = html.length;
      if (this.#sign > this.#at) this.#passText(this.#sign);
      else this.#at = this.#passMarkup(this.#at);
    }
    return this.#at < html.length;
  }

  markdown(): string {
    return this.#writer.finish();
  }

  get #top(): OpenElement {
    return this.#open.at(-1) ?? this.#outermost;
  }

  /** Long text is passed in parts, which break no entity and no character. */
  #passText(end: number): void {
    let to = end;
    if (end - this.#at > stepLength) {
      to = this.#at + stepLength;
      const ampersand = this.#html.slice(to - longestEntity, to).lastIndexOf('&');
      if (ampersand !== -1) to += ampersand - longestEntity;
      else if (/[\udc00-\udfff]/.test(this.#html.charAt(to))) to--;
    }
    const { isInside, isHidden: isUnseen, isLeftOut } = this.#top;
    const text = this.#html.slice(this.#at, to);
    if (isUnseen && isInside && /\p{L}{3}/u.test(text.slice(0, 1000))) this.hiddenTexts++;
    if (isInside && !isLeftOut) this.#writer.text(decodeEntities(text));
    this.#at = to;
  }

  /** Reads what begins with the sign at `at`; returns where it ends. */
  #passMarkup(at: number): number {
    const html = this.#html;
    if (html.startsWith('<!--', at)) return after(html, '-->', at + 4);
    signs.lastIndex = at;
    const [text] = signs.exec(html) ?? [];
    if (text !== undefined) {
      if (this.#isRead(this.#top)) this.#writer.text(text);
      return at + text.length;
    }
    tagName.lastIndex = at;
    const [, slash = '', written = ''] = tagName.exec(html) ?? [];
    const end = endOfTag(html, at);
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
    const attributes = tag.length > name.length + 3 ? attributesOf(tag.slice(0, maxAttributes)) : noAttributes;
    if (name === 'base') this.#rebase(attributes['href']);
    const element = this.#judge(name, attributes);
    if (this.#isRead(element)) this.#writer.open(this.#written(name, attributes));
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
    while (this.#pop() !== name);
  }

  #pop(): string | undefined {
    const element = this.#open.pop();
    if (!element) return undefined;
    const { name } = element;
    this.#counts.set(name, (this.#counts.get(name) ?? 1) - 1);
    if (this.#isRead(element)) this.#writer.close(name);
    return name;
  }

  #isRead({ isInside, isLeftOut }: OpenElement): boolean {
    return isInside && !isLeftOut;
  }

  #rebase(href: string | undefined): void {
    if (href !== undefined && URL.canParse(href, this.#base.href)) this.#base = new URL(href, this.#base);
  }

  #written(name: string, attributes: Attributes): WrittenElement {
    switch (name) {
      case 'a':
        return { name, ...this.#address(attributes['href']) };
      case 'img':
        return { name, ...this.#address(attributes['src']), alt: attributes['alt'] ?? '' };
      case 'code':
      case 'pre':
        return { name, language: languageOf(attributes['class']) };
      case 'td':
      case 'th':
        return { name, align: alignOf(attributes) };
      case 'ol':
        return { name, start: startOf(attributes['start']) };
      default:
        return { name };
    }
  }

  /** Addresses in full. What runs or carries data is no address to go to. */
  #address(value: string | undefined): { address?: string } {
    if (!value || !URL.canParse(value, this.#base.href)) return {};
    const url = new URL(value, this.#base);
    if (!/^(?:https?|mailto|ftp):$/.test(url.protocol)) return {};
    return { address: url.href.replace(/[()]/g, (sign) => (sign === '(' ? '%28' : '%29')) };
  }
}

/** Signs that open nothing are text. */
const signs = /<{1,4096}(?![a-z!?/])/iy;
const tagName = /<(\/?)([a-z][a-z0-9:-]{0,30})/iy;

/** More than any author writes in a tag by hand; what programs write there is data. */
const maxAttributes = 64 * 1024;
const longestEntity = 40;
const noAttributes: Attributes = {};
const outermost: OpenElement = { name: '', isInside: false, isContent: false, isHidden: false, isLeftOut: false };

const setOf = (names: string) => new Set(names.split(' '));
/** What browsers read without looking for tags in it, and nobody sees. */
const rawText = setOf('script style iframe noembed noframes xmp textarea');
const voidElements = setOf('area base br col embed hr img input link meta param source track wbr');
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
  return (open === 'tr' || open === 'a') && next === open;
}

function languageOf(classes = ''): string {
  return /(?:^|\s)lang(?:uage)?-([\w+#.-]{1,30})/.exec(classes)?.[1] ?? '';
}

function alignOf({ align = '', style = '' }: Attributes): string {
  return (/text-align\s*:\s*(right|center)/i.exec(style)?.[1] ?? align).toLowerCase();
}

function startOf(start = '1'): number {
  return /^\d{1,9}$/.test(start) ? Number(start) : 1;
}
