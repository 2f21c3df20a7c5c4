/** The values of each property in a style, in lower case, without comments, strings and `!important`. */
export type Declarations = ReadonlyMap<string, readonly string[]>;

export function declarationsOf(style: string): Declarations {
  const declarations = new Map<string, string[]>();
  for (const declaration of plainCss(style.toLowerCase()).split(';')) {
    const colon = declaration.indexOf(':');
    if (colon === -1) continue;
    const property = declaration.slice(0, colon).trim();
    const value = declaration
      .slice(colon + 1)
      .replace(/!.*/s, '')
      .replace(/\s+/g, ' ')
      .trim();
    const values = declarations.get(property);
    if (values) values.push(value);
    else declarations.set(property, [value]);
  }
  return declarations;
}

/** CSS without comments, strings and URLs, and with escapes decoded. */
export function plainCss(css: string): string {
  if (!/["'\\]|\/\*|url\(/i.test(css)) return css;
  return css.replace(opaque, ' ').replace(escaped, unescape);
}

// Every alternative also ends at the end of the text, so matching takes linear time.
const opaque = /\/\*[^]*?(?:\*\/|$)|"(?:[^"\\]|\\[^])*(?:"|$)|'(?:[^'\\]|\\[^])*(?:'|$)|(?<=url\()[^)"']*/gi;
const escaped = /\\(?:([0-9a-f]{1,6})\s?|([^]))/gi;

function unescape(_all: string, hex?: string, sign?: string): string {
  const code = Number.parseInt(hex ?? '', 16);
  return sign ?? (code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : '');
}

/** A CSS length in pixels; `whole` is 100 %. `undefined` for anything but a plain length. */
export function pixelsOf(length: string, whole: number): number | undefined {
  const [, number, unit = ''] = /^(?:calc\()?([-+]?(?:\d+\.?\d*|\.\d+))([a-z%]*)\)?$/.exec(length) ?? [];
  const size = unit === '%' ? whole / 100 : unitPixels.get(unit);
  return number === undefined || size === undefined ? undefined : Number(number) * size;
}

const unitPixels = new Map([
  ['', 1],
  ['px', 1],
  ['pt', 4 / 3],
  ['pc', 16],
  ['em', 16],
  ['rem', 16],
  ['ex', 8],
  ['ch', 8],
  ['in', 96],
  ['cm', 38],
  ['mm', 3.8],
  ['vw', 10],
  ['vh', 10],
]);
