import type { Yielder } from '../../async/yielder.js';
import { ToolError } from '../../contract/errors.js';
import { breakAfter, breakBefore, findOffsets, startsAt, type TextBytes } from '../read/text-bytes.js';
import { foldLine } from './fold-text.js';
import { candidates, type FileLine, findRelaxed } from './match-relaxed.js';
import type { Found, LineSpan, Match, Reindent } from './text-match.js';

/** More hits are a mistake and would only cost memory. */
const maxMatches = 1_000_000;

/**
 * Finds `wanted` in the text: as it is, whatever the line endings; if it is not there, by relaxed comparison. Hits may
 * overlap. Nothing found is an empty list.
 */
export async function findText(text: TextBytes, wanted: string, yielder: Yielder): Promise<Found> {
  const lines = splitLines(wanted);
  const literal = await findLiteral(text, lines, yielder);
  if (literal.length > 0) return { matches: literal, relaxed: [] };
  const unfinished = lines.length > 1 && lines.at(-1) === '' ? await findAtEnd(text, lines.slice(0, -1), yielder) : [];
  if (unfinished.length > 0) return { matches: unfinished, relaxed: ['the missing line break at the end of the file'] };
  const relaxed = await findRelaxed(text, lines, yielder);
  if (relaxed.matches.length > 0) return relaxed;
  return findIndented(text, lines, yielder);
}

export function splitLines(text: string): string[] {
  return text.split(/\r\n|\n|\r/);
}

async function findLiteral(text: TextBytes, lines: readonly string[], yielder: Yielder): Promise<Match[]> {
  const encoded = lines.map((line) => text.codec.encode(line));
  if (!encoded.every((line) => line !== undefined)) return [];
  const anchor = encoded.reduce((best, line, index) => (line.length > (encoded[best]?.length ?? 0) ? index : best), 0);
  const needle = encoded[anchor];
  if (needle === undefined || needle.length === 0) return findBreaks(text, encoded, yielder);
  const matches: Match[] = [];
  for (const offset of await findOffsets(text, needle, { yielder, limit: maxMatches + 1 })) {
    const match = matchAround(text, encoded, anchor, offset);
    if (match) matches.push(match);
    if (yielder.shouldYield) await yielder.yield();
  }
  if (matches.length > maxMatches)
    throw new ToolError('edit_expected_occurrence_mismatch', `old_string occurs more than ${maxMatches} times`);
  return matches;
}

/** A needle of only line breaks is searched at every line break. */
async function findBreaks(text: TextBytes, encoded: readonly Buffer[], yielder: Yielder): Promise<Match[]> {
  if (encoded.length < 2) return [];
  for (const character of ['\n', '\r']) {
    const needle = text.codec.encode(character) ?? Buffer.alloc(0);
    const matches: Match[] = [];
    for (const offset of await findOffsets(text, needle, { yielder, limit: maxMatches })) {
      const end = offset + needle.length;
      const match = matchAround(text, encoded, 0, end - breakBefore(text, end));
      if (match) matches.push(match);
    }
    if (matches.length > 0) return matches;
  }
  return [];
}

/** The match whose line number `anchor` begins at `offset`, if the lines before and after it are there too. */
function matchAround(text: TextBytes, encoded: readonly Buffer[], anchor: number, offset: number): Match | undefined {
  // Collected upwards from the anchor, then reversed.
  const lines: LineSpan[] = [{ start: offset, end: offset + (encoded[anchor]?.length ?? 0) }];
  for (const line of encoded.slice(0, anchor).toReversed()) {
    const first = lines.at(-1)?.start ?? 0;
    const gap = breakBefore(text, first);
    const start = first - gap - line.length;
    if (gap === 0 || !startsAt(text.bytes, line, start)) return undefined;
    lines.push({ start, end: first - gap });
  }
  lines.reverse();
  for (const line of encoded.slice(anchor + 1)) {
    const last = lines.at(-1)?.end ?? 0;
    const gap = breakAfter(text, last);
    const start = last + gap;
    if (gap === 0 || !startsAt(text.bytes, line, start)) return undefined;
    lines.push({ start, end: start + line.length });
  }
  return { lines };
}

/** Whole lines given with their last line break, where the file ends without one. */
async function findAtEnd(text: TextBytes, lines: readonly string[], yielder: Yielder): Promise<Match[]> {
  const matches = await findLiteral(text, lines, yielder);
  return matches.filter((match) => match.lines.at(-1)?.end === text.bytes.length);
}

/**
 * Finds whole lines whose indentation differs from the wanted ones in one uniform way: the same prefix missing or too
 * much on every line, or tabs for spaces.
 */
async function findIndented(text: TextBytes, wanted: readonly string[], yielder: Yielder): Promise<Found> {
  const matches: Match[] = [];
  let reindent: Reindent | undefined;
  for await (const lines of candidates(text, wanted, yielder)) {
    const rule = ruleBetween(lines, wanted);
    if (rule === undefined) continue;
    matches.push({ lines: lines.map(({ start, end }) => ({ start, end })) });
    reindent = rule;
  }
  return { matches, relaxed: matches.length > 0 ? ['indentation'] : [], ...(reindent && { reindent }) };
}

function ruleBetween(lines: readonly FileLine[], wanted: readonly string[]): Reindent | undefined {
  const pairs: { actual: string; given: string }[] = [];
  for (const [index, line] of lines.entries()) {
    const [actual, given] = [split(foldLine(line.text).text), split(foldLine(wanted[index] ?? '').text)];
    if (actual.content !== given.content) return undefined;
    if (given.content !== '') pairs.push({ actual: actual.indent, given: given.indent });
  }
  return rulesFor(pairs).find((rule) => pairs.every(({ actual, given }) => rule(given) === actual));
}

function split(line: string): { indent: string; content: string } {
  const content = line.trim();
  return { indent: content === '' ? '' : line.slice(0, line.indexOf(content)), content };
}

function rulesFor(pairs: readonly { actual: string; given: string }[]): Reindent[] {
  const [first] = pairs;
  if (first === undefined) return [];
  const { actual, given } = first;
  const rules: Reindent[] = [];
  if (actual.endsWith(given)) {
    const more = actual.slice(0, actual.length - given.length);
    rules.push((indent) => more + indent);
  }
  if (given.endsWith(actual)) {
    const less = given.slice(0, given.length - actual.length);
    rules.push((indent) => (indent.startsWith(less) ? indent.slice(less.length) : undefined));
  }
  for (const width of [2, 4, 8]) {
    const spaces = ' '.repeat(width);
    rules.push((indent) => indent.replaceAll(spaces, '\t'));
    rules.push((indent) => indent.replaceAll('\t', spaces));
  }
  return rules;
}
