import { type Declarations, declarationsOf } from './css-declarations.js';
import { hidesAll, isTinyInside } from './hiding-style.js';
import type { Attributes } from './html-tokens.js';
import type { PageElement } from './page-scope.js';
import type { PageStyles } from './page-styles.js';

/**
 * Whether and how text in an element is visible, from its own attributes and those of its ancestors. Text that a page
 * hides from people is where prompt injections are.
 */
export interface Visibility {
  isReadable: boolean;
  /** Hidden with everything in it; inner elements can override only the other ways to hide. */
  isRemoved: boolean;
  isVisibilityHidden: boolean;
  isTiny: boolean;
  /** An empty string when it is unknown. */
  color: Color;
  background: Color;
}

const names = new Map([
  ['white', '#fff'],
  ['black', '#000'],
  ['transparent', '#0000'],
]);
const [unknown, picture] = ['', 'picture'];
/** Without other information, the background is white. */
export const defaultVisibility: Visibility = {
  isReadable: true,
  isRemoved: false,
  isVisibilityHidden: false,
  isTiny: false,
  color: unknown,
  background: colorOf('white'),
};
const removed: Visibility = { ...defaultVisibility, isReadable: false, isRemoved: true };

/** The visibility of an element inside an element with the visibility `outer`. */
export function visibilityInside(outer: Visibility, element: PageElement, styles: PageStyles): Visibility {
  if (outer.isRemoved) return outer;
  const { name, attributes } = element;
  // Some pages hide the whole body until their scripts have run.
  const isRoot = name === 'body' || name === 'html';
  if (!isRoot && (isHiddenByName(attributes) || styles.hides(attributes))) return removed;
  if (!visibilityAttributes.some((key) => attributes[key] !== undefined)) return outer;
  const style = declarationsOf(attributes['style'] ?? '');
  const background = backgroundIn(outer, attributes, style);
  if (isRoot) return { ...outer, background };
  if (hidesAll(style)) return removed;
  const color = colorIn(outer, element, style, styles);
  const isTiny = isTinyInside(outer.isTiny, style);
  const isVisibilityHidden = isVisibilityHiddenInside(outer.isVisibilityHidden, style);
  const isReadable = !isTiny && !isVisibilityHidden && !isTransparent(color) && !isSameColor(color, background);
  return { isReadable, isRemoved: false, isVisibilityHidden, isTiny, color, background };
}

const visibilityAttributes = ['style', 'color', 'bgcolor', 'background', 'href'];

function isHiddenByName(attributes: Attributes): boolean {
  const { hidden, class: classes } = attributes;
  if (hidden !== undefined && hidden.toLowerCase() !== 'until-found') return true;
  if (attributes['aria-hidden'] === 'true') return true;
  return classes !== undefined && hidingNames.test(classes) && !showingNames.test(classes);
}

/** Class names that hide elements in common CSS frameworks. */
const hidingNames = /(?:^|\s)(?:sr-only|visually-?hidden|screen-reader-text|invisible|hidden|d-none)(?:\s|$)/i;
/** Class names that show them again on wide screens. */
const showingNames =
  /(?:^|\s)(?:(?:sm|md|lg|2?xl):(?:block|inline|flex|grid|table|contents|visible|not-sr-only)|d-(?:sm|md|lg|xx?l)-(?!none))/i;

function isVisibilityHiddenInside(isOuterHidden: boolean, style: Declarations): boolean {
  const values = style.get('visibility') ?? [];
  if (values.some((value) => value === 'hidden' || value === 'collapse')) return true;
  return isOuterHidden && !values.includes('visible');
}

function backgroundIn({ background: outer }: Visibility, attributes: Attributes, style: Declarations): Color {
  const values = ['background', 'background-color', 'background-image'].flatMap(
    (property) => style.get(property) ?? [],
  );
  if (attributes['background'] !== undefined || values.some((value) => /url\(|gradient/.test(value))) return picture;
  const color = values.map(colorAmong).findLast((value) => value !== undefined) ?? attributes['bgcolor'];
  if (color === undefined) return outer;
  const own = colorOf(color);
  if (isTransparent(own)) return outer;
  return typeof own !== 'string' && own[3] < 0.9 ? picture : own;
}

/** The color in a `background` value. */
function colorAmong(value: string): string | undefined {
  const [color] = /#[\da-f]+|(?:rgb|hsl)a?\([^)]*\)|^[a-z]+/.exec(value) ?? [];
  return color !== undefined && sameAsOuter.test(color) ? undefined : color;
}

const sameAsOuter = /^(?:none|inherit|initial|unset|revert|currentcolor|var)/;

function colorIn(
  { color: outer }: Visibility,
  { name, attributes }: PageElement,
  style: Declarations,
  styles: PageStyles,
): Color {
  // With `background-clip: text` the background is visible through the text.
  if ([...style].some(([property, values]) => property.endsWith('background-clip') && values.includes('text')))
    return unknown;
  const said = [...(style.get('color') ?? []), ...(style.get('-webkit-text-fill-color') ?? [])].at(-1);
  // Pages with `font` elements often have light text on a dark background from a style sheet.
  const own = said ?? (name === 'font' && !styles.mayPaint ? attributes['color'] : undefined);
  if (own !== undefined && !sameAsOuter.test(own)) return colorOf(own);
  // Links have their own default color.
  return name === 'a' && attributes['href'] !== undefined && own === undefined ? unknown : outer;
}

/** Red, green and blue from 0 to 255 and alpha from 0 to 1, or a color name that is compared as it is. */
export type Color = readonly [red: number, green: number, blue: number, alpha: number] | string;

/** Parses a CSS color. */
function colorOf(value: string): Color {
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
function isSameColor(one: Color, other: Color): boolean {
  if (typeof one === 'string' || typeof other === 'string') return one === other;
  if (one[3] < 0.9 || other[3] < 0.9) return false;
  return one.every((channel, index) => Math.abs(channel - (other[index] ?? 0)) < 8);
}

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
