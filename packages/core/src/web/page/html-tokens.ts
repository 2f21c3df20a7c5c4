import { decodeEntities } from './html-entities.js';

/** Searches for a position in small steps, because it may be at the end of a large page. */
export interface Search {
  /** How far the search has come; the position itself once it is found. */
  readonly at: number;
  /** Continues to about `to`; true when the position is found. */
  advance(html: string, to: number): boolean;
}

/** Finds the end of a tag: a `>` outside quoted values. Quotes elsewhere have no meaning, as in browsers. */
export class TagEnd implements Search {
  at: number;
  #place: number = tagNamePlace;
  /** Inside a quoted value, the quote that ends it; otherwise 0. */
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
      else place = nextPlace(code, place);
    }
    [this.#place, this.#quote, this.at] = [place, quote, at];
    return isFound;
  }
}

// Numbers, because they are compared with every character of every tag.
const [greaterThan, doubleQuote, singleQuote, equalsSign, slash] = [0x3e, 0x22, 0x27, 0x3d, 0x2f];
const [space, tab, verticalTab, carriageReturn] = [0x20, 0x09, 0x0b, 0x0d];
const [tagNamePlace, gap, inName, afterName, beforeValue, inValue] = [0, 1, 2, 3, 4, 5];

/** The state after a character of a tag, outside quotes. */
function nextPlace(code: number, place: number): number {
  if (code === space || (code >= tab && code <= carriageReturn && code !== verticalTab)) {
    if (place === inName) return afterName;
    return place === tagNamePlace || place === inValue ? gap : place;
  }
  if (place === inValue || place === beforeValue) return inValue;
  if (code === slash) return gap;
  if (place === tagNamePlace) return place;
  // Between two attributes an equals sign begins a name.
  return code === equalsSign && place !== gap ? beforeValue : inName;
}

/** Finds the start or the end of a match of at most 40 characters. */
class Mark implements Search {
  at: number;
  readonly #pattern: RegExp;
  readonly #isSkipped: boolean;

  constructor(pattern: RegExp, start: number, { isSkipped = false } = {}) {
    this.at = start;
    this.#pattern = pattern;
    this.#isSkipped = isSkipped;
  }

  advance(html: string, to: number): boolean {
    const match = this.#pattern.exec(html.slice(this.at, to + 40));
    if (match) this.at += match.index + (this.#isSkipped ? match[0].length : 0);
    else this.at = Math.min(to, html.length);
    return match !== null;
  }
}

/** Finds the end of the comment at `start`; `<!-->` is a whole comment. */
export function commentEnd(start: number): Search {
  return new Mark(/--!?>/, start + 2, { isSkipped: true });
}

/** Finds the end of a bogus comment, such as `<!x>`: quotes have no meaning in it. */
export function bogusCommentEnd(start: number): Search {
  return new Mark(/>/, start + 1, { isSkipped: true });
}

/** Finds the end tag of an element whose content is raw text. */
export function endTagOf(name: string, start: number): Search {
  return new Mark(new RegExp(`</${name}[\\s/>]`, 'i'), start);
}

export type Attributes = Record<string, string | undefined>;

/** The attributes of a start tag, names in lower case; the first of two with the same name counts. */
export function attributesOf(tag: string): Attributes {
  const attributes: Attributes = {};
  const rest = tag.replace(/^[^\t\n\f\r />]*/, '');
  for (const [, name = '', double, single, bare] of rest.matchAll(attribute)) {
    const key = name.toLowerCase();
    if (!Object.hasOwn(attributes, key)) attributes[key] = decodeEntities(double ?? single ?? bare ?? '');
  }
  return attributes;
}

/** Between two attributes there may be a slash, or nothing after a quote. An unclosed quote has no value. */
const attribute =
  /([^\t\n\f\r />][^\t\n\f\r />=]*)(?:[\t\n\f\r ]*=[\t\n\f\r ]*(?:"([^"]*)"|'([^']*)'|["'][^]*|([^\t\n\f\r >]+)))?/g;
