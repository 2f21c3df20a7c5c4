import { linearPattern } from './linear-pattern.js';
import { anyOverlap, firstOf, isNullable, parsePattern, type Sequence, type Term } from './pattern-syntax.js';

/** A regular expression that cannot hang: texts that are too long for it do not match. */
export interface SafePattern {
  /** JavaScript's own engine is safe for it, in Unicode mode, also where nothing limits the length. */
  isSafeAnywhere: boolean;
  test(text: string): boolean;
}

/** Longer patterns run on the linear engine without an analysis. */
const maxAnalyzedChars = 1_000;

/** Longest text per degree of the polynomial that bounds the matching time; about 25 million steps each. */
const maxLengths = [1_000_000, 1_000_000, 5_000, 300];
/** For the slower linear engine: states of the pattern times characters of the text. */
const maxSteps = 5_000_000;

const unchecked: SafePattern = { isSafeAnywhere: false, test: () => true };
const cache = new Map<string, SafePattern | string>();

/**
 * Compiles `source`, or returns why it is not a pattern. JavaScript's engine backtracks, so it runs only patterns in
 * which each character determines how a repeated group continues (no exponential time); the number of ambiguous loops
 * then limits the length of the text. All others run on a linear engine. What that cannot run either, such as a
 * backreference, is not checked: any text matches.
 */
export function safePattern(source: string): SafePattern | string {
  const known = cache.get(source);
  if (known !== undefined) return known;
  if (cache.size > 1_000) cache.clear();
  const result = compile(source);
  cache.set(source, result);
  return result;
}

function compile(source: string): SafePattern | string {
  const expression = toRegExp(source);
  if (expression === null) return 'is not a valid regular expression';
  const isUnicode = expression.unicode;
  const parsed = parsePattern(source, { isUnicode });
  if (parsed === undefined) return unchecked;
  const isLong = source.length > maxAnalyzedChars;
  const maxLength = isLong ? undefined : maxLengths[Math.ceil(Math.max(...parsed.map(degreeOfAlternative)))];
  if (maxLength !== undefined)
    return {
      isSafeAnywhere: isUnicode && maxLength >= 5_000,
      test: (text) => text.length <= maxLength && expression.test(text),
    };
  const linear = linearPattern(parsed, { isUnicode });
  if (linear === undefined) return unchecked;
  const { size } = linear;
  return { isSafeAnywhere: false, test: (text) => size * text.length <= maxSteps && linear.test(text) };
}

function toRegExp(source: string): RegExp | null {
  for (const flags of ['u', '']) {
    try {
      return new RegExp(source, flags);
    } catch {
      // Many schemas use the older syntax, which allows unnecessary escapes.
    }
  }
  return null;
}

function degreeOfAlternative(sequence: Sequence): number {
  const isAnchored = sequence[0]?.kind === 'anchor' && sequence[0].source === '^';
  const searches = !isAnchored && sequence.some(hasLoop) ? 1 : 0;
  return 1 + searches + degreeOf(sequence, 0n);
}

function hasLoop(term: Term): boolean {
  if (term.kind === 'repeat') return term.max > 10 || hasLoop(term.body);
  return term.kind === 'group' && term.alternatives.some((sequence) => sequence.some(hasLoop));
}

/** The degree of an ambiguous choice between two alternatives: four in a row count like a loop. */
const choice = 0.25;

/** How many loops in a row have an end that the next character does not determine; infinite when nested. */
function degreeOf(sequence: Sequence, after: bigint): number {
  let sum = 0;
  let look = 0;
  sequence.forEach((term, index) => {
    const follow = firstOf(sequence.slice(index + 1), after);
    const degree = degreeOfTerm(term, follow);
    if (term.kind === 'group' && term.look) look = Math.max(look, degree);
    else sum += degree;
  });
  return Math.max(sum, look);
}

function degreeOfTerm(term: Term, follow: bigint): number {
  if (term.kind === 'group') {
    const inner = term.alternatives.map((sequence) => degreeOf(sequence, term.look ? 0n : follow));
    return Math.max(...inner) + choice * overlapsIn(term.alternatives, follow);
  }
  if (term.kind !== 'repeat') return 0;
  const { body, min, max } = term;
  const isUnclear = min !== max && anyOverlap(firstOf([body], 0n), follow);
  const unclearEnd = isUnclear ? (max > 1 ? 1 : choice) : 0;
  if (body.kind !== 'group' || max <= 1) return unclearEnd + degreeOfTerm(body, follow);
  const again = firstOf([body], 0n);
  if (isNullable(body) || !isDeterministic(body, again)) return Number.POSITIVE_INFINITY;
  return unclearEnd + degreeOfTerm(body, follow | again);
}

/** How many alternatives, or what follows them if they can be empty, begin like an earlier one. */
function overlapsIn(alternatives: readonly Sequence[], follow: bigint): number {
  let seen = 0n;
  let count = 0;
  for (const sequence of alternatives) {
    const first = firstOf(sequence, follow);
    if (anyOverlap(first, seen)) count++;
    seen |= first;
  }
  return count;
}

/** True when, inside a repeated group, the next character alone determines how the match continues. */
function isDeterministic(term: Term, follow: bigint): boolean {
  if (term.kind === 'repeat') {
    const first = firstOf([term.body], 0n);
    if (term.min !== term.max && anyOverlap(first, follow)) return false;
    return isDeterministic(term.body, term.max > 1 ? follow | first : follow);
  }
  if (term.kind !== 'group') return true;
  if (term.look) return term.alternatives.every((sequence) => !sequence.some(hasLoop));
  if (overlapsIn(term.alternatives, follow) > 0) return false;
  return term.alternatives.every((sequence) =>
    sequence.every((inner, index) => isDeterministic(inner, firstOf(sequence.slice(index + 1), follow))),
  );
}
