import type { Yielder } from '../../async/yielder.js';
import { breakAfter, breakBefore, findOffsets, lineEnd, lineStart, type TextBytes } from '../read/text-bytes.js';
import { differencesBetween, foldLine, stableParts } from './fold-text.js';
import type { Found, LineSpan, Match } from './text-match.js';

/** Longer lines are only matched literally. */
const maxLine = 64 * 1024;
const maxCandidates = 100_000;

/** A line of the file, decoded. */
export interface FileLine extends LineSpan {
  text: string;
}

/**
 * Finds lines that are the wanted ones apart from typographic characters, trailing whitespace and Unicode normal form.
 * The longest part of the needle that no such difference touches is searched as bytes; only the lines around its hits
 * are decoded and compared.
 */
export async function findRelaxed(text: TextBytes, wanted: readonly string[], yielder: Yielder): Promise<Found> {
  const matches: Match[] = [];
  const relaxed = new Set<string>();
  const folded = wanted.map((line) => foldLine(line).text);
  for await (const lines of candidates(text, wanted, yielder)) {
    for (const match of matchesIn(text, lines, folded)) {
      matches.push(match);
      for (const [index, span] of match.lines.entries()) {
        const actual = text.codec.decode(text.bytes.subarray(span.start, span.end));
        for (const name of differencesBetween(actual, wanted[index] ?? '')) relaxed.add(name);
      }
    }
  }
  return { matches, relaxed: [...relaxed] };
}

/** For each hit of the rarest unchanged part, as many lines as are wanted. */
export async function* candidates(
  text: TextBytes,
  wanted: readonly string[],
  yielder: Yielder,
): AsyncGenerator<FileLine[], void> {
  const anchor = await rarestPart(text, wanted, yielder);
  if (anchor === undefined) return;
  const { needle, line: index } = anchor;
  let seen = -1;
  for (const offset of await findOffsets(text, needle, { yielder, limit: maxCandidates })) {
    if (offset < seen) continue;
    if (yielder.shouldYield) await yielder.yield();
    const start = lineStart(text, offset);
    const end = lineEnd(text, offset);
    seen = end;
    if (end - start > maxLine || !couldBe(text, { start, end }, wanted[index] ?? '')) continue;
    const lines = linesAround(text, { start, end }, index, wanted.length - 1 - index);
    if (lines) yield lines;
  }
}

const maxParts = 8;
const rare = 50;

/** Of the longest parts that folding does not change, the one with the fewest hits. */
async function rarestPart(text: TextBytes, wanted: readonly string[], yielder: Yielder) {
  const parts = new Map(wanted.flatMap((line, index) => stableParts(line).map((part) => [part, index] as const)));
  const longest = [...parts].sort(([a], [b]) => b.length - a.length).slice(0, maxParts);
  let best: { needle: Buffer; line: number; hits: number } | undefined;
  for (const [part, line] of longest) {
    const needle = text.codec.encode(part);
    if (needle === undefined) continue;
    const hits = (await findOffsets(text, needle, { yielder, limit: best?.hits ?? rare })).length;
    if (best === undefined || hits < best.hits) best = { needle, line, hits };
    // A required part is missing, so there is no match.
    if (hits === 0) return undefined;
  }
  return best;
}

function linesAround(text: TextBytes, line: LineSpan, before: number, after: number): FileLine[] | undefined {
  // Collected upwards, then reversed.
  const spans = [line];
  for (let count = 0; count < before; count++) {
    const first = spans.at(-1)?.start ?? 0;
    const gap = breakBefore(text, first);
    if (gap === 0) return undefined;
    spans.push({ start: lineStart(text, first - gap), end: first - gap });
  }
  spans.reverse();
  for (let count = 0; count < after; count++) {
    const last = spans.at(-1)?.end ?? 0;
    const gap = breakAfter(text, last);
    if (gap === 0) return undefined;
    spans.push({ start: last + gap, end: lineEnd(text, last + gap) });
  }
  const lines = spans.map((span) => decodeLine(text, span));
  return lines.every((decoded) => decoded !== undefined) ? lines : undefined;
}

/** `undefined` for a line that is too long, or has invalid bytes, in which positions are ambiguous. */
function decodeLine({ bytes, codec }: TextBytes, { start, end }: LineSpan): FileLine | undefined {
  if (end - start > maxLine) return undefined;
  const source = bytes.subarray(start, end);
  const text = codec.decode(source);
  return codec.encode(text)?.equals(source) ? { start, end, text } : undefined;
}

/** A cheap test of one line before its neighbours are decoded. */
function couldBe(text: TextBytes, span: LineSpan, wanted: string): boolean {
  const line = decodeLine(text, span);
  return line !== undefined && foldLine(line.text).text.includes(foldLine(wanted).text.trim());
}

/** The first wanted line may begin, and the last one end, inside a line of the file. */
function* matchesIn(text: TextBytes, lines: readonly FileLine[], wanted: readonly string[]): Generator<Match> {
  const [first, last] = [wanted[0] ?? '', wanted.at(-1) ?? ''];
  const [head, tail] = [lines[0], lines.at(-1)];
  if (head === undefined || tail === undefined) return;
  if (lines.length === 1) {
    const line = foldLine(head.text).text;
    for (let at = line.indexOf(first.trimEnd()); at !== -1; at = line.indexOf(first.trimEnd(), at + 1)) {
      const span = partOf(text, head, at, endOf(line, first, at));
      if (span) yield { lines: [span] };
    }
    return;
  }
  const headLine = foldLine(head.text).text;
  const from = headLine.trimEnd().length - first.trimEnd().length;
  const isThere = headLine.trimEnd().endsWith(first.trimEnd()) && sameMiddle(lines, wanted);
  const end = endOf(foldLine(tail.text).text, last, 0);
  if (!isThere || !foldLine(tail.text).text.startsWith(last.trimEnd())) return;
  const [start, finish] = [partOf(text, head, from, headLine.length), partOf(text, tail, 0, end)];
  if (start && finish) yield { lines: [start, ...lines.slice(1, -1).map(wholeOf(text)), finish] };
}

function sameMiddle(lines: readonly FileLine[], wanted: readonly string[]): boolean {
  return lines
    .slice(1, -1)
    .every((line, index) => foldLine(line.text).text.trimEnd() === (wanted[index + 1] ?? '').trimEnd());
}

/** Where the wanted text ends in a folded line; -1 when it needs whitespace at the end and other text stands there. */
function endOf(line: string, wanted: string, at: number): number {
  const trimmed = wanted.trimEnd();
  if (trimmed === wanted) return at + wanted.length;
  const rest = line.slice(at + trimmed.length);
  if (rest.startsWith(wanted.slice(trimmed.length))) return at + wanted.length;
  return rest.trim() === '' ? line.length : -1;
}

const wholeOf =
  (text: TextBytes) =>
  (line: FileLine): LineSpan =>
    partOf(text, line, 0, foldLine(line.text).text.length) ?? line;

/** The bytes of a stretch of the folded line, if it does not begin or end inside a character. */
function partOf(text: TextBytes, line: FileLine, from: number, to: number): LineSpan | undefined {
  const { originOf } = foldLine(line.text);
  const byteAt = (column: number): number | undefined => {
    const source = originOf(column);
    const before = source === undefined ? undefined : text.codec.encode(line.text.slice(0, source));
    return before && line.start + before.length;
  };
  const [start, end] = [byteAt(from), byteAt(to)];
  if (start === undefined || end === undefined || from > to) return undefined;
  const offsetAt = (column: number) => (from + column > to ? undefined : byteAt(from + column));
  return { start, end, offsetAt };
}
