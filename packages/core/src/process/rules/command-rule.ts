import { compileComponent, literalComponent } from '../../text/glob/glob-component.js';
import { unknownPart } from '../shell/command-analysis.js';
import { checkExactRule, isExactRule } from './exact-rule.js';

/** Whether a rule matches a command: `maybe` if that depends on something known only at run time. */
export type RuleMatch = 'yes' | 'maybe' | 'no';

/**
 * Matches a rule such as `git checkout *` against the words of one simple command. Words are compared whole: `git log`
 * matches `git log -1`, never `git logout`. A `*` alone matches any number of words, inside a word any text; quotes
 * group as in a shell. A rule without a final `*` matches longer commands too. Deny and ask rules must treat `maybe` as
 * yes, allow rules as no.
 */
export function matchCommandRule(rule: string, words: readonly string[]): RuleMatch {
  const pattern = parsedRules.get(rule) ?? parseRule(rule);
  if (parsedRules.size > 500) parsedRules.clear();
  parsedRules.set(rule, pattern);
  if (pattern.length === 0) return 'no';
  if (matches(pattern, words, { isStrict: true })) return 'yes';
  const isUnknown = words.some((word) => word.includes(unknownPart));
  return isUnknown && matches(pattern, words, { isStrict: false }) ? 'maybe' : 'no';
}

/** What is wrong with the text of a rule, as a sentence; `undefined` if it is valid. */
export function checkCommandRule(rule: string): string | undefined {
  if (isExactRule(rule)) return checkExactRule(rule);
  if (rule.trim() === '') return 'A command rule needs at least the name of a program.';
  if (/\p{Cc}/u.test(rule)) return 'A command rule must not contain control characters.';
  return /["']/.test(rule.replace(/"[^"]*"|'[^']*'/g, '')) ? 'A quote in the rule is not closed.' : undefined;
}

type PatternWord = { type: 'any' } | { type: 'word'; fits: (word: string) => boolean; text: string };
const anyWords: PatternWord = { type: 'any' };

/**
 * The same few rules are matched with every part of every command. Parsing each once makes 5,000 matches
 * take 1.4 instead of 87 ms: `npm run bench -- --no-peers --only 'shell: match'`.
 */
const parsedRules = new Map<string, PatternWord[]>();

function parseRule(rule: string): PatternWord[] {
  // Older settings write `git log:*` for `git log *`.
  const source = rule.trim().replace(/:\*$/, ' *');
  const words = source.match(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g) ?? [];
  const pattern = words.map((word) => (word === '*' ? anyWords : wordPattern(word)));
  return pattern.length === 0 || pattern.at(-1) === anyWords ? pattern : [...pattern, anyWords];
}

/** Matches in linear time, however many stars the rule has. */
function wordPattern(word: string): PatternWord {
  const pieces = word.match(/"[^"]*"|'[^']*'|[^"']+/g) ?? [];
  const source = pieces.map((piece) =>
    /^["']/.test(piece) ? literalComponent(piece.slice(1, -1)) : piece.split('*').map(literalComponent).join('*'),
  );
  return { type: 'word', fits: compileComponent(source.join('')), text: pieces.join('') };
}

/**
 * Strict: an unknown word matches only a `*`. Otherwise it matches wherever its known text could, and may stand for
 * several words or none.
 */
function matches(
  pattern: readonly PatternWord[],
  words: readonly string[],
  { isStrict }: { isStrict: boolean },
): boolean {
  let reached = new Set(closure(pattern, [0]));
  for (const word of words) {
    const isUnknown = word.includes(unknownPart);
    const next: number[] = [];
    for (const at of reached) {
      const part = pattern[at];
      if (!part) continue;
      if (part.type === 'any') next.push(at);
      else if (!isUnknown) next.push(...(part.fits(word) ? [at + 1] : []));
      else if (!isStrict) next.push(...laterThan(pattern, at, word));
    }
    if (isUnknown && !isStrict) next.push(...reached);
    reached = new Set(closure(pattern, next));
    if (reached.size === 0) return false;
  }
  return reached.has(pattern.length);
}

/** The pattern positions an unknown word may reach if its known start matches: it may stand for several words. */
function laterThan(pattern: readonly PatternWord[], at: number, word: string): number[] {
  const [start = ''] = word.split(unknownPart, 1);
  const part = pattern[at];
  const fits = part?.type === 'word' && (part.text.includes('*') || part.text.startsWith(start));
  return fits ? [...pattern.keys(), pattern.length].filter((index) => index > at) : [];
}

/** A `*` may also match no words. */
function closure(pattern: readonly PatternWord[], places: readonly number[]): number[] {
  const all = [...places];
  for (const at of all) if (pattern[at]?.type === 'any' && !all.includes(at + 1)) all.push(at + 1);
  return all;
}
