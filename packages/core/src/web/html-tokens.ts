import { decodeEntities } from './html-entities.js';

/** A place that is looked for step by step, because it may be as far away as the end of a large page. */
export interface Search {
  /** How far it has got; the place itself once that is found. */
  readonly at: number;
  /** Goes on to about `to`; true when the place is found. */
  advance(html: string, to: number): boolean;
}

/** Behind the `>` that ends a tag; one in a quoted value does not. Quotes elsewhere mean nothing, as in browsers. */
export class TagEnd implements Search {
  at: number;
  #place: number = tagNamePlace;
  /** The quote that ends the value, inside one. */
  #quote = 0;

  constructor(start: number) {
    this.at = start + 1;
  }

  advance(html: string, to: number): boolean {
    const end = Math.min(to, html.length);
    let [place, quote, isFound, at] = [this.#place, this.#quote, false, this.at];
    while (at < end && !isFound) {
      const code = html.charCodeAt(at++);
      if (quote !== 0) {
        if (code === quote) [quote, place] = [0, gap];
      } else if (code === greaterThan) isFound = true;
      else if (place === beforeValue && (code === doubleQuote || code === singleQuote)) quote = code;
      else place = placeAfter(code, place);
    }
    [this.#place, this.#quote, this.at] = [place, quote, at];
    return isFound;
  }
}

// Numbers, because every character of every tag is compared with them.
const [greaterThan, doubleQuote, singleQuote, equalsSign, slash] = [0x3e, 0x22, 0x27, 0x3d, 0x2f];
const [space, tab, verticalTab, carriageReturn] = [0x20, 0x09, 0x0b, 0x0d];
const [tagNamePlace, gap, inName, behindName, beforeValue, inValue] = [0, 1, 2, 3, 4, 5];

/** Where in a tag the next character stands, outside quotes. */
function placeAfter(code: number, place: number): number {
  if (code === space || (code >= tab && code <= carriageReturn && code !== verticalTab)) {
    if (place === inName) return behindName;
    return place === tagNamePlace || place === inValue ? gap : place;
  }
  if (place === inValue || place === beforeValue) return inValue;
  if (code === slash) return gap;
  if (place === tagNamePlace) return place;
  // Between two attributes this sign begins a name.
  return code === equalsSign && place !== gap ? beforeValue : inName;
}

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

/** Behind what browsers take for a comment although it looks otherwise: quotes mean nothing in it. */
export function bogusCommentEnd(start: number): Search {
  return new Mark(/>/, start + 1, { isPassed: true });
}

/** The end tag of an element in which browsers look for no other tags. */
export function endTagOf(name: string, start: number): Search {
  return new Mark(new RegExp(`</${name}[\\s/>]`, 'i'), start);
}

export type Attributes = Record<string, string | undefined>;

/** The attributes of a start tag, names in small letters; the first of two counts. */
export function attributesOf(tag: string): Attributes {
  const attributes: Attributes = {};
  const rest = tag.replace(/^[^\t\n\f\r />]*/, '');
  for (const [, name = '', double, single, bare] of rest.matchAll(attribute)) {
    const key = name.toLowerCase();
    if (!Object.hasOwn(attributes, key)) attributes[key] = decodeEntities(double ?? single ?? bare ?? '');
  }
  return attributes;
}

/** What divides two attributes may be missing behind a quote, or be a slash. A quote that never ends holds no value. */
const attribute =
  /([^\t\n\f\r />][^\t\n\f\r />=]*)(?:[\t\n\f\r ]*=[\t\n\f\r ]*(?:"([^"]*)"|'([^']*)'|["'][^]*|([^\t\n\f\r >]+)))?/g;
