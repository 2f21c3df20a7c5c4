/** Red, green and blue from 0 to 255 and alpha from 0 to 1, or a color name that is compared as it is. */
export type Color = readonly [red: number, green: number, blue: number, alpha: number] | string;

/** Parses a CSS color. */
export function colorOf(value: string): Color {
  const text = value.trim().toLowerCase();
  const [, digits] = /^#?([\da-f]{3,4}|[\da-f]{6}|[\da-f]{8})$/.exec(names.get(text) ?? text) ?? [];
  if (digits !== undefined) return ofHex(digits);
  const [, kind, inner = ''] = /^(rgb|hsl)a?\(([^)]*)\)$/.exec(text) ?? [];
  return kind === undefined ? text : ofNumbers(text, kind === 'rgb', inner);
}

function ofNumbers(text: string, isRgb: boolean, inner: string): Color {
  const [first = 0, second = 0, third = 0, alpha = 1] = numbersOf(inner, isRgb ? 2.55 : 1);
  if (isRgb) return [first, second, third, alpha];
  const gray = third * 2.55;
  // Colors with a hue are compared as text: pages rarely spell one color in two ways, except white and black.
  return alpha === 1 && third > 1 && third < 99 ? text : [gray, gray, gray, alpha];
}

/** Whether text of this color is invisible on every background. */
export function isTransparent(color: Color): boolean {
  return typeof color !== 'string' && color[3] < 0.1;
}

/** Whether text of one color is invisible on a background of the other. */
export function isSameColor(one: Color, other: Color): boolean {
  if (typeof one === 'string' || typeof other === 'string') return one === other;
  if (one[3] < 0.9 || other[3] < 0.9) return false;
  return one.every((channel, index) => Math.abs(channel - (other[index] ?? 0)) < 8);
}

const names = new Map([
  ['white', '#fff'],
  ['black', '#000'],
  ['transparent', '#0000'],
]);

function ofHex(digits: string): Color {
  const long = digits.length < 6 ? digits.replace(/./g, '$&$&') : digits;
  const [red = 0, green = 0, blue = 0, alpha = 255] = (long.match(/../g) ?? []).map((pair) =>
    Number.parseInt(pair, 16),
  );
  return [red, green, blue, alpha / 255];
}

function numbersOf(list: string, percent: number): number[] {
  const words = list.split(/[\s,/]+/).filter((each) => each !== '');
  return words.map((each, index) => {
    const unit = index === 3 ? 0.01 : percent;
    return Number.parseFloat(each) * (each.endsWith('%') ? unit : 1);
  });
}
