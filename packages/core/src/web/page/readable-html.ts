import type { Yielder } from '../../async/yielder.js';
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
import { invisibleCharacters } from './markdown-lines.js';
import { MarkdownWriter, type WrittenElement } from './markdown-writer.js';
import { isChrome, isScopeRoot, type PageScope } from './page-scope.js';
import { maxSheets, PageStyles } from './page-styles.js';
import { defaultVisibility, type Visibility, visibilityInside } from './page-visibility.js';

export interface ReadablePage {
  title: string;
  markdown: string;
  /** How many pieces of hidden text were left out. */
  hiddenTexts: number;
}

/**
 * Converts one part of a page to Markdown. Leaves out chrome, hidden text, scripts and comments, and makes links
 * absolute. Takes time proportional to the length of any page. Runs and loads nothing.
 */
export async function readableHtml(html: string, base: URL, scope: PageScope, yielder: Yielder): Promise<ReadablePage> {
  const reader = new Reader(html, base, scope);
  while (reader.step()) if (yielder.shouldYield) await yielder.yield();
  // Joining the chunks of a large page takes some milliseconds.
  await yielder.yield();
  return { title: reader.title, markdown: reader.markdown(), hiddenTexts: reader.hiddenTexts };
}

/** An open element, with the properties it inherits from its ancestors. */
interface OpenElement {
  name: string;
  /** Inside the part that is read. */
  isInside: boolean;
  /** Inside `main` or `article`, where fewer elements count as chrome. */
  isContent: boolean;
  isExcluded: boolean;
  visibility: Visibility;
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
  /** How many characters absolute URLs may still add to the page; after that, links become text. */
  #addressBudget: number;
  #at = 0;
  /** Reading continues after the position that this finds. */
  #search: Search | undefined;

  constructor(html: string, base: URL, scope: PageScope) {
    this.#html = html;
    this.#base = base;
    this.#addressBudget = 64 * 1024 + 2 * html.length;
    this.#scope = scope;
    this.#outermost = { ...outermost, isInside: scope === 'body' };
  }

  /** Reads a small part; false at the end of the page. */
  step(): boolean {
    const html = this.#html;
    const stop = Math.min(html.length, this.#at + stepLength);
    while (this.#at < stop) {
      const search = this.#search;
      if (search?.advance(html, this.#at + stepLength)) this.#search = undefined;
      if (search) this.#at = search.at;
      else this.#readNext();
    }
    return this.#at < html.length;
  }

  #readNext(): void {
    const next = this.#html.slice(this.#at, this.#at + stepLength);
    const sign = next.indexOf('<');
    if (sign === 0) this.#readMarkup(this.#at);
    else this.#readText(sign === -1 ? withoutPartialEnd(next) : next.slice(0, sign));
  }

  markdown(): string {
    return this.#writer.finish();
  }

  get #top(): OpenElement {
    return this.#open.at(-1) ?? this.#outermost;
  }

  #readText(text: string): void {
    const { isInside, visibility } = this.#top;
    if (!visibility.isReadable && isInside && /\p{L}{3}/u.test(text.slice(0, 1000))) this.hiddenTexts++;
    if (visibility.isReadable && this.#isIncluded(this.#top)) this.#writer.text(decodeEntities(text));
    this.#at += text.length;
  }

  #readMarkup(at: number): void {
    tagName.lastIndex = at;
    const match = tagName.exec(this.#html);
    if (!match) return this.#readOther(at);
    const name = (match[2] ?? '').toLowerCase();
    const tag = new TagEnd(at);
    if (!tag.advance(this.#html, at + maxTag)) this.#search = tag;
    this.#at = tag.at;
    if (match[1] !== '') this.#close(name);
    else if (name === 'title' && this.#top.name !== 'svg') this.#readTitle();
    else if (rawText.has(name)) this.#skipRawText(name, this.#html.slice(at, tag.at));
    else this.#enter(name, this.#html.slice(at, Math.min(tag.at, at + maxTag)));
  }

  /** Skips raw text. Reads a style sheet unless it is for other media or for browsers without scripts. */
  #skipRawText(name: string, tag: string): void {
    this.#search = endTagOf(name, this.#at);
    if (name !== 'style' || this.#counts.get('noscript') || this.#counts.get('template')) return;
    if (!/^(?:all|screen)?$/i.test(attributesOf(tag)['media'] ?? '')) return;
    const [sheet = ''] = this.#html.slice(this.#at, this.#at + maxSheets + 1).split(/<\/style/i, 1);
    this.#styles.read(sheet);
  }

  /** Reads a comment, a bogus comment, or `<` characters that are text. */
  #readOther(at: number): void {
    lessThanSigns.lastIndex = at;
    const [text] = lessThanSigns.exec(this.#html) ?? [];
    if (text === undefined) this.#search = this.#html.startsWith('<!--', at) ? commentEnd(at) : bogusCommentEnd(at);
    else if (this.#top.visibility.isReadable && this.#isIncluded(this.#top)) this.#writer.text(text);
    this.#at += text?.length ?? 0;
  }

  #readTitle(): void {
    const text = this.#html.slice(this.#at, this.#at + 2000).replace(/<\/title[\s\S]*$/i, '');
    const seen = decodeEntities(text).replace(invisibleCharacters, '').replace(/\s+/g, ' ');
    this.title ||= seen.trim().slice(0, 300);
    this.#search = endTagOf('title', this.#at);
  }

  #enter(name: string, tag: string): void {
    while (isClosedBy(this.#top.name, name)) this.#pop();
    const attributes = tag.length > name.length + 3 ? attributesOf(tag) : noAttributes;
    if (name === 'base') this.#setBase(attributes['href']);
    if (name === 'link') this.#styles.mayPaint ||= /stylesheet/i.test(attributes['rel'] ?? '');
    const element = this.#judge(name, attributes);
    const isVoid = voidElements.has(name);
    if (!isVoid && this.#open.length === maxDepth) this.#pop();
    // `visibility: hidden` also hides images; text size and color do not matter for them.
    if (this.#isIncluded(element) && !(isVoid && element.visibility.isVisibilityHidden))
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
      isExcluded: outer.isExcluded || name === 'head' || isChrome(own, isContent),
      visibility: visibilityInside(outer.visibility, own, this.#styles),
    };
  }

  /** An end tag without an open element is ignored. */
  #close(name: string): void {
    if (!this.#counts.get(name)) return;
    while (this.#pop() !== name);
  }

  #pop(): string | undefined {
    const element = this.#open.pop();
    if (!element) return undefined;
    const { name } = element;
    this.#counts.set(name, (this.#counts.get(name) ?? 1) - 1);
    if (this.#isIncluded(element)) this.#writer.close(name);
    return name;
  }

  #isIncluded({ isInside, isExcluded, visibility }: OpenElement): boolean {
    return isInside && !isExcluded && !visibility.isRemoved;
  }

  #setBase(href: string | undefined): void {
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

  /** The absolute URL, except for schemes that run code or carry data. */
  #address(value: string | undefined): { address?: string } {
    if (!value || this.#addressBudget < 0 || !URL.canParse(value, this.#base.href)) return {};
    const url = new URL(value, this.#base);
    if (!/^(?:https?|mailto|ftp):$/.test(url.protocol)) return {};
    const address = url.href.replace(/[()]/g, (sign) => (sign === '(' ? '%28' : '%29'));
    this.#addressBudget -= Math.max(0, address.length - value.length);
    return { address };
  }
}

const lessThanSigns = /<{1,4096}(?![a-z!?/])/iy;
const tagName = /<(\/?)([a-z][a-z0-9:-]{0,30})/iy;

/** Attributes after this many characters of a tag are ignored; longer tags carry data, such as images. */
const maxTag = 64 * 1024;
/** As in browsers, deeper elements become siblings of the last one. */
const maxDepth = 512;
const noAttributes: Attributes = {};
const outermost: OpenElement = {
  name: '',
  isInside: false,
  isContent: false,
  isExcluded: false,
  visibility: defaultVisibility,
};

const setOf = (names: string) => new Set(names.split(' '));
/** Elements whose content is raw text that is not shown. */
const rawText = setOf('script style iframe noembed noframes xmp textarea');
const voidElements = setOf('area base br col embed hr img input link meta param source track wbr');
const cells = setOf('td th');
const terms = setOf('dt dd');
const blocks = setOf(
  'p div section article main header footer aside nav ul ol dl table pre blockquote figure form h1 h2 h3 h4 h5 h6 hr details address',
);

/** Whether the start of the element `next` implicitly closes the element `open`. */
function isClosedBy(open: string, next: string): boolean {
  if (open === 'p') return blocks.has(next);
  if (open === 'li') return next === 'li';
  if (terms.has(open)) return terms.has(next);
  if (cells.has(open)) return cells.has(next) || next === 'tr';
  return (open === 'tr' || open === 'a') && next === open;
}

/** Text without an entity or a surrogate pair that is cut at its end. */
function withoutPartialEnd(text: string): string {
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
