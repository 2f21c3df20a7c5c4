import type { Yielder } from '../../async/yielder.js';
import {
  breakAfter,
  findOffsets,
  lineEnd,
  lineNumberAt,
  lineStart,
  linesUp,
  type TextBytes,
} from '../read/text-bytes.js';
import { splitLines } from './match.js';

/** The part of a file that is most like a text that is not in it. */
export interface Region {
  /** 1-based number of its first line. */
  firstLine: number;
  lines: string[];
}

const maxProbes = 8;
const maxHits = 40;
const maxScored = 60;
const maxLines = 400;
const maxColumns = 400;

/** A less similar region is probably a coincidence. */
const enough = 0.4;

/**
 * Searches for the longest lines of the needle or, if none occurs, its longest words. Every hit votes for a place, and
 * the most similar of the places with most votes is the answer. The number of probes bounds the work.
 */
export async function nearestRegion(text: TextBytes, needle: string, yielder: Yielder): Promise<Region | undefined> {
  const wanted = splitLines(needle).slice(0, maxLines);
  while (wanted.length > 1 && wanted.at(-1)?.trim() === '') wanted.pop();
  const places =
    (await vote(text, lineProbes(wanted), yielder)) ?? (await vote(text, wordProbes(wanted), yielder)) ?? [];
  let best: { start: number; lines: string[]; score: number } | undefined;
  for (const start of places.slice(0, maxScored)) {
    const lines = linesFrom(text, start, wanted.length);
    const score = likeness(lines, wanted);
    if (score > (best?.score ?? enough)) best = { start, lines, score };
    if (yielder.shouldYield) await yielder.yield();
  }
  return best && { firstLine: await lineNumberAt(text, best.start, yielder), lines: best.lines };
}

/** A text to search for, and its line in the needle. */
interface Probe {
  text: string;
  line: number;
}

function lineProbes(wanted: readonly string[]): Probe[] {
  return longest(
    wanted
      .map((line, index) => ({ text: line.trim().slice(0, maxColumns), line: index }))
      .filter(({ text }) => text.length > 3),
  );
}

function wordProbes(wanted: readonly string[]): Probe[] {
  const words = wanted.flatMap((line, index) =>
    Array.from(line.matchAll(/[\p{L}\p{N}_]{3,}/gu), ([text]) => ({ text, line: index })),
  );
  return longest([...new Map(words.map((probe) => [probe.text, probe])).values()]);
}

function longest(probes: Probe[]): Probe[] {
  return probes.sort((a, b) => b.text.length - a.text.length).slice(0, maxProbes);
}

/** Where the needle would begin, most voted first; `undefined` when nothing was hit. */
async function vote(text: TextBytes, probes: readonly Probe[], yielder: Yielder): Promise<number[] | undefined> {
  const votes = new Map<number, number>();
  for (const { text: probe, line } of probes) {
    const needle = text.codec.encode(probe);
    const hits = needle ? await findOffsets(text, needle, { yielder, limit: maxHits }) : [];
    // A probe with few hits counts more.
    for (const hit of hits) {
      const start = linesUp(text, lineStart(text, hit), line);
      votes.set(start, (votes.get(start) ?? 0) + 1 / hits.length);
    }
  }
  if (votes.size === 0) return undefined;
  return [...votes].sort(([, a], [, b]) => b - a).map(([start]) => start);
}

function linesFrom(text: TextBytes, offset: number, count: number): string[] {
  const lines: string[] = [];
  for (let start = offset; lines.length < count; ) {
    const end = lineEnd(text, start);
    lines.push(text.codec.decode(text.bytes.subarray(start, Math.min(end, start + maxColumns * text.codec.unit))));
    const gap = breakAfter(text, end);
    if (gap === 0 || end + gap >= text.bytes.length) break;
    start = end + gap;
  }
  return lines;
}

/** The mean likeness of the lines, each measured by the pairs of characters it shares with its counterpart. */
function likeness(lines: readonly string[], wanted: readonly string[]): number {
  const scores = wanted.map((line, index) => {
    const [a, b] = [pairsOf(line), pairsOf(lines[index] ?? '')];
    if (a.size + b.size === 0) return 1;
    let shared = 0;
    for (const pair of a) if (b.has(pair)) shared++;
    return (2 * shared) / (a.size + b.size);
  });
  return scores.reduce((sum, score) => sum + score, 0) / Math.max(1, scores.length);
}

function pairsOf(line: string): Set<string> {
  const content = line.trim().slice(0, maxColumns);
  const pairs = new Set<string>();
  for (let at = 0; at < content.length; at++) pairs.add(content.slice(at, at + 2));
  return pairs;
}

const shownLines = 20;

/** The region for the model: numbered lines, and under each that differs what the needle has instead. */
export function describeRegion({ firstLine, lines }: Region, needle: string): string {
  const wanted = splitLines(needle);
  const shown = lines.slice(0, shownLines).flatMap((line, index) => {
    const expected = wanted[index] ?? '';
    const entry = `${String(firstLine + index).padStart(6)} | ${line.slice(0, 200)}`;
    return line === expected
      ? [entry]
      : [entry, `   old_string: ${expected.slice(0, 200)}${difference(line, expected)}`];
  });
  if (lines.length > shownLines) shown.push(`        (${lines.length - shownLines} more lines)`);
  return `The nearest region is at lines ${firstLine}-${firstLine + lines.length - 1}:\n${shown.join('\n')}`;
}

/** A hint when two lines differ in a way that is hard to see. */
function difference(line: string, expected: string): string {
  if (line.trim() === expected.trim()) {
    if (line.trimEnd() !== expected.trimEnd()) return '   (only the indentation differs)';
    return '   (only the whitespace at the end differs)';
  }
  if (line.replace(/\s+/g, '') === expected.replace(/\s+/g, '')) return '   (only whitespace differs)';
  return line.toLowerCase() === expected.toLowerCase() ? '   (only upper and lower case differ)' : '';
}
