import { type Declarations, pixelsOf } from './css-declarations.js';

/** Whether this style hides an element and everything in it, whatever the inner elements set. */
export function hidesAll(style: Declarations): boolean {
  for (const [property, values] of style) {
    const isHiding = hiding.get(property);
    if (isHiding && values.some((value) => isHiding(value, style))) return true;
  }
  return false;
}

/** Whether text in an element is too small to read; `isOuterTiny` says so for the parent element. */
export function isTinyInside(isOuterTiny: boolean, style: Declarations): boolean {
  if (!style.has('font-size') && !style.has('font')) return isOuterTiny;
  const sizes = [...(style.get('font-size') ?? []), ...(style.get('font') ?? []).map(sizeIn)];
  return sizes.some((size) => {
    const pixels = pixelsOf(size, 16);
    if (pixels === undefined) return isOuterTiny && !/^(?:medium|(?:xx?-)?(?:small|large))$/.test(size);
    return pixels <= tinyPixels || (isOuterTiny && /(?:[^r]em|ex|ch|%)$/.test(size));
  });
}

/** One point. */
const tinyPixels = 4 / 3;
/** Offsets of this size move text off the screen; smaller ones are layout. */
const offscreenPixels = 900;
/** The assumed width of a page. */
const pagePixels = 1000;

/** The font size in a `font` shorthand; a number without a unit is a weight, unless it is zero. */
function sizeIn(font: string): string {
  const words = font.split(/[\s/]+/);
  return words.find((word) => /^(?:[\d.]+[a-z%]+|0+|(?:xx?-)?(?:small|large)|medium)$/.test(word)) ?? '';
}

type Test = (value: string, style: Declarations) => boolean;

const isFaint: Test = (value) => {
  const amount = Number.parseFloat(value);
  return (value.endsWith('%') ? amount / 100 : amount) < 0.1;
};

const isOffsetOffscreen: Test = (value, style) => !style.get('position')?.includes('static') && isOffscreen(value);

/** A bar across the whole page has a large negative margin and as much padding, and is visible. */
const isMarginOffscreen: Test = (value, style) => isOffscreen(value) && !hasLength(style, /^padding/, offscreenPixels);

const isAnyMarginOffscreen: Test = (value, style) => {
  const [top = '', right = top, , left = right] = value.split(' ');
  return isMarginOffscreen(top, style) || isMarginOffscreen(left, style);
};

function isOffscreen(value: string): boolean {
  return (pixelsOf(value, pagePixels) ?? 0) <= -offscreenPixels;
}

/** A box without size hides its content if it clips overflow and no other property gives it size. */
const isCollapsed =
  (growingProperties: RegExp): Test =>
  (value, style) => {
    const clipsOverflow = ['overflow', 'overflow-x', 'overflow-y'].some((property) =>
      style.get(property)?.some((each) => /hidden|clip/.test(each)),
    );
    return (
      clipsOverflow &&
      Math.abs(pixelsOf(value, pagePixels) ?? pagePixels) <= 1 &&
      !hasLength(style, growingProperties, 5)
    );
  };

function hasLength(style: Declarations, properties: RegExp, least: number): boolean {
  for (const [property, values] of style) {
    if (!properties.test(property)) continue;
    const lengths = values.flatMap((value) => value.split(' ')).map((each) => pixelsOf(each, pagePixels) ?? 0);
    if (lengths.some((length) => length >= least)) return true;
  }
  return false;
}

const isHeightCollapsed = isCollapsed(/^(?:padding(?:-top|-bottom)?|min-height)$/);
const isWidthCollapsed: Test = (value, style) =>
  !style.has('flex') &&
  !style.has('flex-grow') &&
  isCollapsed(/^(?:padding(?:-left|-right)?|min-width)$/)(value, style);

const isMovedOrShrunk: Test = (value) => {
  for (const [, name = '', inner = ''] of value.matchAll(/(scale|translate|rotate)[a-z3]*\(([^()]*)\)/g)) {
    const numbers = inner.split(/[\s,]+/).filter((each) => each !== '');
    if (name === 'scale' && numbers.slice(0, 2).some((each) => Math.abs(Number.parseFloat(each)) < 0.05)) return true;
    if (name === 'translate' && numbers.some((each) => !each.endsWith('%') && isOffscreen(each))) return true;
  }
  return false;
};

const isClipped: Test = (value) => {
  const inner = /^rect\(([^()]*)\)/.exec(value)?.[1] ?? '';
  const [top, right, bottom, left] = inner.split(/[\s,]+/).map((each) => pixelsOf(each, pagePixels));
  return isNarrow(top, bottom) || isNarrow(left, right);
};

function isNarrow(from: number | undefined, to: number | undefined): boolean {
  return from !== undefined && to !== undefined && to - from <= 1;
}

const isClippedByPath: Test = (value) => {
  if (/^(?:circle|ellipse)\( ?0(?:px|%)?(?=[ )])/.test(value)) return true;
  const inner = /^inset\(([^()]*?)(?:round[^()]*)?\)/.exec(value)?.[1]?.trim();
  if (inner === undefined) return false;
  const [top = 0, right = top, bottom = top, left = right] = inner
    .split(' ')
    .map((each) => pixelsOf(each, pagePixels) ?? 0);
  return top + bottom >= pagePixels || left + right >= pagePixels;
};

/** The values that hide an element, by property. */
const hiding = new Map<string, Test>([
  ['display', (value) => value === 'none'],
  ['content-visibility', (value) => value === 'hidden'],
  ['opacity', isFaint],
  ['filter', (value) => isFaint(/opacity\(([^()]*)\)/.exec(value)?.[1] ?? '1', new Map())],
  ...['left', 'right', 'top', 'bottom', 'text-indent'].map((property): [string, Test] => [property, isOffsetOffscreen]),
  ['margin', isAnyMarginOffscreen],
  ['margin-left', isMarginOffscreen],
  ['margin-top', isMarginOffscreen],
  ['height', isHeightCollapsed],
  ['max-height', isHeightCollapsed],
  ['width', isWidthCollapsed],
  ['max-width', isWidthCollapsed],
  ['transform', isMovedOrShrunk],
  ['scale', (value) => isMovedOrShrunk(`scale(${value})`, new Map())],
  ['translate', (value) => isMovedOrShrunk(`translate(${value})`, new Map())],
  ['clip', isClipped],
  ['clip-path', isClippedByPath],
]);
