import { decodeEntities } from './html-entities.js';

/** A place that is looked for step by step, because it may be as far away as the end of a large page. */
export interface Search {
  /** How far it has got; the place itself once that is found. */
  readonly at: number;
  /** Goes on to about `to`; true when the place is found. */
  advance(html: string, to: number): boolean;
}

/** Behind the `>` that ends a tag; one in a quoted value does not. */
export class TagEnd implements Search {
  at: number;
  #last = 0;
  /** The quote that ends the value, inside one. */
  #quote = 0;

  constructor(start: number) {
    this.at = start + 1;
  }

  advance(html: string, to: number): boolean {
    const end = Math.min(to, html.length);
    let [last, quote, isFound, at] = [this.#last, this.#quote, false, this.at];
    while (at < end && !isFound) {
      const code = html.charCodeAt(at++);
      if (code === quote) quote = 0;
      else if (quote === 0) {
        isFound = code === greaterThan;
        if (last === equalsSign && (code === doubleQuote || code === singleQuote)) quote = code;
        if (code > space) last = code;
      }
    }
    [this.#last, this.#quote, this.at] = [last, quote, at];
    return isFound;
  }
}

// Numbers, because every character of every tag is compared with them.
const [greaterThan, doubleQuote, singleQuote, equalsSign, space] = [0x3e, 0x22, 0x27, 0x3d, 0x20];

/** Where a mark of at most 40 characters stands, or behind it. */
class Mark implements Search {
  at: number;
  readonly #pattern: RegExp;
  readonly #isPassed: boolean;

  constructor(pattern: RegExp, start: number, { isPassed = false } = {}) {
    this.at = start;
    this.#pattern = pattern;
    this.#isPassed = isPassed;
  }

  advance(html: string, to: number): boolean {
    const match = this.#pattern.exec(html.slice(this.at, to + 40));
    if (match) this.at += match.index + (this.#isPassed ? match[0].length : 0);
    else this.at = Math.min(to, html.length);
    return match !== null;
  }
}

/** Behind the comment that begins at `start`; some are shorter than their two ends. */
export function commentEnd(start: number): Search {
  return new Mark(/--!?>/, start + 2, { isPassed: true });
}

/** The end tag of an element in which browsers look for no other tags. */
export function endTagOf(name: string, start: number): Search {
  return new Mark(new RegExp(`</${name}[\\s/>]`, 'i'), start);
}

export type Attributes = Record<string, string | undefined>;

/** The attributes of a start tag, names in small letters; the first of two counts. */
export function attributesOf(tag: string): Attributes {
  const attributes: Attributes = {};
  for (const [, name = '', double, single, bare] of tag.matchAll(attribute)) {
    const key = name.toLowerCase();
    if (!Object.hasOwn(attributes, key)) attributes[key] = decodeEntities(double ?? single ?? bare ?? '');
  }
  return attributes;
}

const attribute = /\s([^\s"'<>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?/g;
