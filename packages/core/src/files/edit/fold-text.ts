/** A line as relaxed matching compares it, with a mapping to the original characters. */
export interface FoldedLine {
  text: string;
  /** The position in the source of a position in `text`; `undefined` inside a folded character. */
  originOf: (column: number) => number | undefined;
}

/** Typographic look-alikes and invisible characters, behind what people type for them. */
const typed: readonly [text: string, lookalikes: string][] = [
  ["'", '\u2018\u2019\u201A\u201B\u2032'],
  ['"', '\u201C\u201D\u201E\u201F\u2033'],
  ['-', '\u2010\u2011\u2012\u2013\u2014\u2015\u2212'],
  ['...', '\u2026'],
  [' ', '\u00A0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200A\u202F\u3000'],
];
const lookalikes = new Map(typed.flatMap(([text, characters]) => Array.from(characters, (one) => [one, text])));

/** A character with its combining marks, or a run of conjoining Hangul letters: what normal forms compose. */
const clusters = /[\u1100-\u11FF]+|\P{M}\p{M}*|\p{M}+/gu;

/** Typographic characters as typed, every character in normal form C. */
export function foldLine(source: string): FoldedLine {
  if (isAscii(source)) return { text: source, originOf: (column) => (column <= source.length ? column : undefined) };
  let text = '';
  const origin = new Map<number, number>();
  for (const { 0: cluster, index } of source.matchAll(clusters)) {
    origin.set(text.length, index);
    text += lookalikes.get(cluster) ?? cluster.normalize('NFC');
  }
  origin.set(text.length, source.length);
  return { text, originOf: (column) => origin.get(column) };
}

const isAscii = (text: string) => /^[\0-\x7F]*$/.test(text);

const asTyped = (line: string) => line.replace(/./gsu, (character) => lookalikes.get(character) ?? character);

/** Names the differences that folding removed. */
export function differencesBetween(actual: string, wanted: string): string[] {
  const names: string[] = [];
  const [a, b] = [actual.trimEnd(), wanted.trimEnd()];
  if (actual.slice(a.length) !== wanted.slice(b.length)) names.push('trailing whitespace');
  if (a === b) return names;
  if (asTyped(a) !== a || asTyped(b) !== b) names.push('typographic characters');
  if (asTyped(a) !== asTyped(b)) names.push('Unicode normal form');
  return names;
}

/** The parts of `line` that folding does not change, so that their bytes can be searched for. */
export function stableParts(line: string): string[] {
  const parts: string[] = [];
  let current = '';
  const characters = Array.from(line.slice(0, maxStable));
  for (const [index, character] of characters.entries()) {
    if (isStable(character, characters[index + 1])) current += character;
    else if (current !== '') {
      parts.push(current);
      current = '';
    }
  }
  return current === '' ? parts : [...parts, current];
}

const maxStable = 1000;

/** Not whitespace, no look-alike of anything, and the same in every normal form. */
function isStable(character: string, next = ''): boolean {
  if (/[\s'"\-.\p{M}\u1100-\u11FF]/u.test(character) || /^\p{M}/u.test(next)) return false;
  return lookalikes.get(character) === undefined && character.normalize('NFD') === character;
}
