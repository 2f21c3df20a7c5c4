import { type Color, colorOf, isSameColor, isTransparent } from './css-color.js';
import { type Declarations, declarationsOf } from './css-declarations.js';
import { hidesAll, isTinyInside } from './hiding-style.js';
import type { Attributes } from './html-tokens.js';
import type { PageElement } from './page-scope.js';
import type { PageStyles } from './page-styles.js';

/**
 * How text can be seen in an element, from what it and those around it say. Text that is in a page but not on the screen
 * is where instructions for readers like us are hidden.
 */
export interface Look {
  isSeen: boolean;
  /** Nothing in it can be seen, whatever it says; of what else hides an inner element may say the contrary. */
  isGone: boolean;
  isInvisible: boolean;
  isTiny: boolean;
  /** Nothing but a word where it is not known. */
  color: Color;
  background: Color;
}

const [unknown, picture] = ['', 'picture'];
/** Where nobody says anything, text is taken to stand on white. */
export const plainLook: Look = {
  isSeen: true,
  isGone: false,
  isInvisible: false,
  isTiny: false,
  color: unknown,
  background: colorOf('white'),
};
const gone: Look = { ...plainLook, isSeen: false, isGone: true };

/** The look of an element that stands in one with another look. */
export function lookInside(outer: Look, element: PageElement, styles: PageStyles): Look {
  if (outer.isGone) return outer;
  const { name, attributes } = element;
  // A page that hides all of itself at first shows it as soon as its scripts have run.
  const isRoot = name === 'body' || name === 'html';
  if (!isRoot && (isHiddenByName(attributes) || styles.hides(attributes))) return gone;
  if (!looks.some((key) => attributes[key] !== undefined)) return outer;
  const style = declarationsOf(attributes['style'] ?? '');
  const background = backgroundIn(outer, attributes, style);
  if (isRoot) return { ...outer, background };
  if (hidesAll(style)) return gone;
  const color = colorIn(outer, element, style, styles);
  const isTiny = isTinyInside(outer.isTiny, style);
  const isInvisible = isInvisibleInside(outer.isInvisible, style);
  const isSeen = !isTiny && !isInvisible && !isTransparent(color) && !isSameColor(color, background);
  return { isSeen, isGone: false, isInvisible, isTiny, color, background };
}

const looks = ['style', 'color', 'bgcolor', 'background', 'href'];

function isHiddenByName(attributes: Attributes): boolean {
  const { hidden, class: classes } = attributes;
  if (hidden !== undefined && hidden.toLowerCase() !== 'until-found') return true;
  if (attributes['aria-hidden'] === 'true') return true;
  return classes !== undefined && hidingNames.test(classes) && !showingNames.test(classes);
}

/** Names that mean the same in every library of styles. */
const hidingNames = /(?:^|\s)(?:sr-only|visually-?hidden|screen-reader-text|invisible|hidden|d-none)(?:\s|$)/i;
/** Names that show it again where the screen is wide. */
const showingNames =
  /(?:^|\s)(?:(?:sm|md|lg|2?xl):(?:block|inline|flex|grid|table|contents|visible|not-sr-only)|d-(?:sm|md|lg|xx?l)-(?!none))/i;

function isInvisibleInside(isOuterInvisible: boolean, style: Declarations): boolean {
  const values = style.get('visibility') ?? [];
  if (values.some((value) => value === 'hidden' || value === 'collapse')) return true;
  return isOuterInvisible && !values.includes('visible');
}

function backgroundIn({ background: outer }: Look, attributes: Attributes, style: Declarations): Color {
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

/** The color among the words of a background. */
function colorAmong(value: string): string | undefined {
  const [color] = /#[\da-f]+|(?:rgb|hsl)a?\([^)]*\)|^[a-z]+/.exec(value) ?? [];
  return color !== undefined && sameAsOuter.test(color) ? undefined : color;
}

const sameAsOuter = /^(?:none|inherit|initial|unset|revert|currentcolor|var)/;

function colorIn(
  { color: outer }: Look,
  { name, attributes }: PageElement,
  style: Declarations,
  styles: PageStyles,
): Color {
  // Text that lets the background shine through is seen by it.
  if ([...style].some(([property, values]) => property.endsWith('background-clip') && values.includes('text')))
    return unknown;
  const said = [...(style.get('color') ?? []), ...(style.get('-webkit-text-fill-color') ?? [])].at(-1);
  // Pages with such elements are often white on a dark ground, which a style sheet may paint.
  const own = said ?? (name === 'font' && !styles.mayPaint ? attributes['color'] : undefined);
  if (own !== undefined && !sameAsOuter.test(own)) return colorOf(own);
  // Links have a color of their own.
  return name === 'a' && attributes['href'] !== undefined && own === undefined ? unknown : outer;
}
