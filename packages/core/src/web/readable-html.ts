import type { Pace } from '../files/pace.js';
import { decodeEntities } from './html-entities.js';
import {
  type Attributes,
  attributesOf,
  bogusCommentEnd,
  commentEnd,
  endTagOf,
  type Search,
  TagEnd,
} from './html-tokens.js';
import { unseen } from './markdown-lines.js';
import { MarkdownWriter, type WrittenElement } from './markdown-writer.js';
import { isChrome, isScopeRoot, type PageScope } from './page-scope.js';
import { maxSheets, PageStyles } from './page-styles.js';
import { type Look, lookInside, plainLook } from './page-visibility.js';

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
  // Putting a large page together takes some milliseconds of its own.
  await pace.rest();
  return { title: reader.title, markdown: reader.markdown(), hiddenTexts: reader.hiddenTexts };
}

/** What is known about an element from itself and from what it stands in. */
interface OpenElement {
  name: string;
  /** Below the element that is read. */
  isInside: boolean;
  /** Below `main` or `article`, where less is taken for chrome. */
  isContent: boolean;
  isLeftOut: boolean;
  look: Look;
}

const stepLength = 4 * 1024;

class Reader {
  title = '';
  hiddenTexts = 0;
  readonly #writer = new MarkdownWriter();
  readonly #html: string;
  readonly #scope: PageScope;
  readonly #outermost: OpenElement;
  readonly #open: OpenElement[] = [];
  readonly #counts = new Map<string, number>();
  readonly #styles = new PageStyles();
  #base: URL;
  /** How much longer than written the addresses of a page may become; then links are text. */
  #addressesLeft: number;
  #at = 0;
  /** Nothing is read before this is found. */
  #search: Search | undefined;

  constructor(html: string, base: URL, scope: PageScope) {
    this.#html = html;
    this.#base = base;
    this.#addressesLeft = 64 * 1024 + 2 * html.length;
    this.#scope = scope;
    this.#outermost = { ...outermost, isInside: scope === 'body' };
  }

  /** Works through a small part; false at the end of the page. */
  step(): boolean {
    const html = this.#html;
    const stop = Math.min(html.length, this.#at + stepLength);
    while (this.#at < stop) {
      if (this.#search) this.#goOn(this.#search);
      else this.#passNext();
    }
    return this.#at < html.length;
  }

  #goOn(search: Search): void {
    if (search.advance(this.#html, this.#at + stepLength)) this.#search = undefined;
    this.#at = search.at;
  }

  #passNext(): void {
    const next = this.#html.slice(this.#at, this.#at + stepLength);
    const sign = next.indexOf('<');
    if (sign === 0) this.#passMarkup(this.#at);
    else this.#passText(sign === -1 ? unbroken(next) : next.slice(0, sign));
  }

  markdown(): string {
    return this.#writer.finish();
  }

  get #top(): OpenElement {
    return this.#open.at(-1) ?? this.#outermost;
  }

  #passText(text: string): void {
    const { isInside, look } = this.#top;
    if (!look.isSeen && isInside && /\p{L}{3}/u.test(text.slice(0, 1000))) this.hiddenTexts++;
    if (look.isSeen && this.#isRead(this.#top)) this.#writer.text(decodeEntities(text));
    this.#at += text.length;
  }

  #passMarkup(at: number): void {
    tagName.lastIndex = at;
    const match = tagName.exec(this.#html);
    if (!match) return this.#passOther(at);
    const name = (match[2] ?? '').toLowerCase();
    const tag = new TagEnd(at);
    if (!tag.advance(this.#html, at + maxTag)) this.#search = tag;
    this.#at = tag.at;
    if (match[1] !== '') this.#close(name);
    else if (name === 'title' && this.#top.name !== 'svg') this.#readTitle();
    else if (rawText.has(name)) this.#passRawText(name, this.#html.slice(at, tag.at));
    else this.#enter(name, this.#html.slice(at, Math.min(tag.at, at + maxTag)));
  }

  /** A style sheet for other media, or for readers without scripts, says nothing about what is seen. */
  #passRawText(name: string, tag: string): void {
    this.#search = endTagOf(name, this.#at);
    if (name !== 'style' || this.#counts.get('noscript') || this.#counts.get('template')) return;
    if (!/^(?:all|screen)?$/i.test(attributesOf(tag)['media'] ?? '')) return;
    const [sheet = ''] = this.#html.slice(this.#at, this.#at + maxSheets + 1).split(/<\/style/i, 1);
    this.#styles.read(sheet);
  }

  /** A comment, what browsers take for one, or signs that open nothing: these are text. */
  #passOther(at: number): void {
    signs.lastIndex = at;
    const [text] = signs.exec(this.#html) ?? [];
    if (text === undefined) this.#search = this.#html.startsWith('<!--', at) ? commentEnd(at) : bogusCommentEnd(at);
    else if (this.#top.look.isSeen && this.#isRead(this.#top)) this.#writer.text(text);
    this.#at += text?.length ?? 0;
  }

  #readTitle(): void {
    const text = this.#html.slice(this.#at, this.#at + 2000).replace(/<\/title[\s\S]*$/i, '');
    const seen = decodeEntities(text).replace(unseen, '').replace(/\s+/g, ' ');
    this.title ||= seen.trim().slice(0, 300);
    this.#search = endTagOf('title', this.#at);
  }

  #enter(name: string, tag: string): void {
    while (endsBefore(this.#top.name, name)) this.#pop();
    const attributes = tag.length > name.length + 3 ? attributesOf(tag) : noAttributes;
    if (name === 'base') this.#rebase(attributes['href']);
    if (name === 'link') this.#styles.mayPaint ||= /stylesheet/i.test(attributes['rel'] ?? '');
    const element = this.#judge(name, attributes);
    const isVoid = voidElements.has(name);
    if (!isVoid && this.#open.length === maxDepth) this.#pop();
    // Images are seen or not like text, but have neither size nor color of it.
    if (this.#isRead(element) && !(isVoid && element.look.isInvisible))
      this.#writer.open(this.#written(name, attributes));
    if (isVoid) return;
    this.#open.push(element);
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }

  #judge(name: string, attributes: Attributes): OpenElement {
    const outer = this.#top;
    const own = { name, attributes };
    const isContent = outer.isContent || isScopeRoot(own, 'main') || isScopeRoot(own, 'article');
    return {
      name,
      isInside: outer.isInside || isScopeRoot(own, this.#scope),
      isContent,
      isLeftOut: outer.isLeftOut || name === 'head' || isChrome(own, isContent),
      look: lookInside(outer.look, own, this.#styles),
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

  #isRead({ isInside, isLeftOut, look }: OpenElement): boolean {
    return isInside && !isLeftOut && !look.isGone;
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
    if (!value || this.#addressesLeft < 0 || !URL.canParse(value, this.#base.href)) return {};
    const url = new URL(value, this.#base);
    if (!/^(?:https?|mailto|ftp):$/.test(url.protocol)) return {};
    const address = url.href.replace(/[()]/g, (sign) => (sign === '(' ? '%28' : '%29'));
    this.#addressesLeft -= Math.max(0, address.length - value.length);
    return { address };
  }
}

const signs = /<{1,4096}(?![a-z!?/])/iy;
const tagName = /<(\/?)([a-z][a-z0-9:-]{0,30})/iy;

/** More than any author writes in a tag by hand; what programs write there is data. */
const maxTag = 64 * 1024;
/** Browsers have such a limit too: what is opened beyond it stands beside the last element, not in it. */
const maxDepth = 512;
const noAttributes: Attributes = {};
const outermost: OpenElement = { name: '', isInside: false, isContent: false, isLeftOut: false, look: plainLook };

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

/** Text without an entity or a character that its end may have broken. */
function unbroken(text: string): string {
  return text.length < stepLength ? text : text.replace(/(?:&[^;]{0,40}|[\ud800-\udbff])$/, '');
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
