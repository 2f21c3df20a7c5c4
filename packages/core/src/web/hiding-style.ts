import { type Declarations, pixelsOf } from './css-declarations.js';

/** Whether nothing in an element of this style can be seen, whatever is said about the elements in it. */
export function hidesAll(style: Declarations): boolean {
  for (const [property, values] of style) {
    const isHiding = hiding.get(property);
    if (isHiding && values.some((value) => isHiding(value, style))) return true;
  }
  return false;
}

/** Whether text is too small to be read, in an element that stands where it would be so or not. */
export function isTinyInside(isOuterTiny: boolean, style: Declarations): boolean {
  if (!style.has('font-size') && !style.has('font')) return isOuterTiny;
  const sizes = [...(style.get('font-size') ?? []), ...(style.get('font') ?? []).map(sizeIn)];
  return sizes.some((size) => {
    const pixels = pixelsOf(size, 16);
    if (pixels === undefined) return isOuterTiny && !/^(?:medium|(?:xx?-)?(?:small|large))$/.test(size);
    return pixels <= tiny || (isOuterTiny && /(?:[^r]em|ex|ch|%)$/.test(size));
  });
}

/** One point. */
const tiny = 4 / 3;
/** Offsets that move a text off the screen; smaller ones arrange what is on it. */
const far = 900;
/** What 100 % of a page's width are taken for. */
const page = 1000;

/** The size stands among other words, before a slash; a number without a unit is a weight, unless it is zero. */
function sizeIn(font: string): string {
  const words = font.split(/[\s/]+/);
  return words.find((word) => /^(?:[\d.]+[a-z%]+|0+|(?:xx?-)?(?:small|large)|medium)$/.test(word)) ?? '';
}

type Test = (value: string, style: Declarations) => boolean;

const isFaint: Test = (value) => {
  const amount = Number.parseFloat(value);
  return (value.endsWith('%') ? amount / 100 : amount) < 0.1;
};

const isFarAway: Test = (value, style) => !style.get('position')?.includes('static') && isFar(value);

/** The width of a bar across the whole page is made of a far margin and as much padding. */
const isPulledAway: Test = (value, style) => isFar(value) && !hasLength(style, /^padding/, far);

const isPulledAwayBy: Test = (value, style) => {
  const [top = '', right = top, , left = right] = value.split(' ');
  return isPulledAway(top, style) || isPulledAway(left, style);
};

function isFar(value: string): boolean {
  return (pixelsOf(value, page) ?? 0) <= -far;
}

/** A box without room hides what is in it if that may not stand out, and if nothing else makes room. */
const isFlat =
  (growing: RegExp): Test =>
  (value, style) => {
    const isClosed = ['overflow', 'overflow-x', 'overflow-y'].some((property) =>
      style.get(property)?.some((each) => /hidden|clip/.test(each)),
    );
    return isClosed && Math.abs(pixelsOf(value, page) ?? page) <= 1 && !hasLength(style, growing, 5);
  };

function hasLength(style: Declarations, properties: RegExp, least: number): boolean {
  for (const [property, values] of style) {
    if (!properties.test(property)) continue;
    const lengths = values.flatMap((value) => value.split(' ')).map((each) => pixelsOf(each, page) ?? 0);
    if (lengths.some((length) => length >= least)) return true;
  }
  return false;
}

const isFlatHigh = isFlat(/^(?:padding(?:-top|-bottom)?|min-height)$/);
const isFlatWide: Test = (value, style) =>
  !style.has('flex') && !style.has('flex-grow') && isFlat(/^(?:padding(?:-left|-right)?|min-width)$/)(value, style);

const isMovedOrShrunk: Test = (value) => {
  for (const [, name = '', inner = ''] of value.matchAll(/(scale|translate|rotate)[a-z3]*\(([^()]*)\)/g)) {
    const numbers = inner.split(/[\s,]+/).filter((each) => each !== '');
    if (name === 'scale' && numbers.slice(0, 2).some((each) => Math.abs(Number.parseFloat(each)) < 0.05)) return true;
    if (name === 'translate' && numbers.some((each) => !each.endsWith('%') && isFar(each))) return true;
  }
  return false;
};

const isClipped: Test = (value) => {
  const inner = /^rect\(([^()]*)\)/.exec(value)?.[1] ?? '';
  const [top, right, bottom, left] = inner.split(/[\s,]+/).map((each) => pixelsOf(each, page));
  return isNarrow(top, bottom) || isNarrow(left, right);
};

function isNarrow(from: number | undefined, to: number | undefined): boolean {
  return from !== undefined && to !== undefined && to - from <= 1;
}

const isCutAway: Test = (value) => {
  if (/^(?:circle|ellipse)\( ?0(?:px|%)?(?=[ )])/.test(value)) return true;
  const inner = /^inset\(([^()]*?)(?:round[^()]*)?\)/.exec(value)?.[1]?.trim();
  if (inner === undefined) return false;
  const [top = 0, right = top, bottom = top, left = right] = inner.split(' ').map((each) => pixelsOf(each, page) ?? 0);
  return top + bottom >= page || left + right >= page;
};

/** What hides, by the property that says it. */
const hiding = new Map<string, Test>([
  ['display', (value) => value === 'none'],
  ['content-visibility', (value) => value === 'hidden'],
  ['opacity', isFaint],
  ['filter', (value) => isFaint(/opacity\(([^()]*)\)/.exec(value)?.[1] ?? '1', new Map())],
  ...['left', 'right', 'top', 'bottom', 'text-indent'].map((property): [string, Test] => [property, isFarAway]),
  ['margin', isPulledAwayBy],
  ['margin-left', isPulledAway],
  ['margin-top', isPulledAway],
  ['height', isFlatHigh],
  ['max-height', isFlatHigh],
  ['width', isFlatWide],
  ['max-width', isFlatWide],
  ['transform', isMovedOrShrunk],
  ['scale', (value) => isMovedOrShrunk(`scale(${value})`, new Map())],
  ['translate', (value) => isMovedOrShrunk(`translate(${value})`, new Map())],
  ['clip', isClipped],
  ['clip-path', isCutAway],
]);
