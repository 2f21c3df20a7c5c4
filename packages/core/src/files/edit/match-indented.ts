import type { Yielder } from '../../async/yielder.js';
import type { TextBytes } from '../read/text-bytes.js';
import { foldLine } from './fold-text.js';
import { candidates, type FileLine } from './match-relaxed.js';
import type { Found, Match, Reindent } from './text-match.js';

/**
 * Finds whole lines whose indentation differs from the wanted ones in one uniform way: the same prefix missing or too
 * much on every line, or tabs for spaces.
 */
export async function findIndented(text: TextBytes, wanted: readonly string[], yielder: Yielder): Promise<Found> {
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
