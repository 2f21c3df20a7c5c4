import { decodeEntities } from './html-entities.js';

/** Behind the `>` that ends the tag at `start`; one in a quoted value does not. A tag without end takes all the rest. */
export function endOfTag(html: string, start: number): number {
  let last = 0;
  for (let at = start + 1; at < html.length; at++) {
    const code = html.charCodeAt(at);
    if (code === greaterThan) return at + 1;
    if ((code === doubleQuote || code === singleQuote) && last === equalsSign) {
      at = html.indexOf(code === doubleQuote ? '"' : "'", at + 1);
      if (at === -1) return html.length;
      last = code;
    } else if (code > space) last = code;
  }
  return html.length;
}

// Numbers, because every character of every tag is compared with them.
const [greaterThan, doubleQuote, singleQuote, equalsSign, space] = [0x3e, 0x22, 0x27, 0x3d, 0x20];

/** Behind the end tag of an element in which browsers look for no other tags. */
export function endOfElement(html: string, name: string, from: number): number {
  const close = new RegExp(`</${name}[\\s/>]`, 'gi');
  close.lastIndex = from;
  const match = close.exec(html);
  return match ? after(html, '>', match.index) : html.length;
}

export function after(html: string, mark: string, from: number): number {
  const at = html.indexOf(mark, from);
  return at === -1 ? html.length : at + mark.length;
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
