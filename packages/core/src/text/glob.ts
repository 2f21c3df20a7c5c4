/**
 * Glob patterns in time linear in pattern times name, whatever the pattern: a star that fails is retried from the last
 * star only, at the level of characters and again at the level of path components. No regular expressions, so neither
 * an ignore file nor a model can write a pattern that hangs.
 */
export interface Glob {
  /** Whether a whole path, relative and joined by `/`, matches. */
  matches(path: string): boolean;
  /** Where a walk starts; it steps into directories only as long as something below them can match. */
  readonly start: GlobState;
}

/** How much of the pattern the directories above have used up. */
export interface GlobState {
  /** Whether an entry of this directory matches. */
  matches(name: string): boolean;
  /** The state inside a subdirectory; `undefined` when nothing in there can match. */
  enter(name: string): GlobState | undefined;
}

/** Tests one path component. */
export type Component = (name: string) => boolean;

export interface GlobOptions {
  ignoreCase?: boolean;
}

const maxLength = 4096;
const maxAlternatives = 1000;

/**
 * A pattern as people write it: `*`, `?`, `[a-z]`, `**`, `{a,b}`, and `\` before a character that is meant literally.
 * A component that is spelled exactly like the pattern matches as well, so `app/[id]/page.tsx` finds itself.
 * Throws a `RangeError` with a sentence for the author when the pattern is too large.
 */
export function compileGlob(pattern: string, { ignoreCase = false }: GlobOptions = {}): Glob {
  if (pattern.length > maxLength) throw new RangeError(`the pattern is longer than ${maxLength} characters`);
  const folded = ignoreCase ? pattern.toLowerCase() : pattern;
  const sources = new Set([folded, ...expandBraces(folded)]);
  const start = stateOf([...sources].flatMap((source) => open(stepsOf(source, orLiteral))));
  return globOf(ignoreCase ? foldState(start) : start);
}

/** Why a pattern cannot be used, for its author; `undefined` when it can. */
export function globProblem(pattern: string): string | undefined {
  try {
    compileGlob(pattern);
    return pattern.trim() === '' ? 'the pattern is empty' : undefined;
  } catch (error) {
    if (error instanceof RangeError) return error.message;
    throw error;
  }
}

/** A pattern with slashes as git reads it: no braces, nothing matched but by the letter. Tests a whole relative path. */
export function compileGitGlob(pattern: string): (path: string) => boolean {
  const names = pattern.split('/');
  if (names.includes('**')) {
    const glob = globOf(stateOf(open(stepsOf(pattern, compileComponent))));
    return (path) => glob.matches(path);
  }
  const components = names.map(compileComponent);
  return (path) => {
    let start = 0;
    for (const [index, component] of components.entries()) {
      const slash = path.indexOf('/', start);
      const isLast = index === components.length - 1;
      if (slash < 0 !== isLast || !component(isLast ? path.slice(start) : path.slice(start, slash))) return false;
      start = slash + 1;
    }
    return true;
  };
}

function globOf(start: GlobState): Glob {
  return {
    start,
    matches(path) {
      const names = path.split('/');
      const name = names.pop() ?? '';
      let state: GlobState | undefined = start;
      for (const directory of names) state = state?.enter(directory);
      return state?.matches(name) ?? false;
    },
  };
}

const anyDepth = Symbol('**');

/** One component of the pattern and what follows it. */
interface Step {
  part: Component | typeof anyDepth;
  next: Step | undefined;
}

function stepsOf(pattern: string, compile: (name: string) => Component): Step | undefined {
  const names = pattern.split('/').filter((name) => name !== '' && name !== '.');
  // `dir/**` is everything below `dir`, not `dir` itself.
  if (names.at(-1) === '**') names.push('*');
  return names.reduceRight<Step | undefined>(
    (next, name) => ({ part: name === '**' ? anyDepth : compile(name), next }),
    undefined,
  );
}

function orLiteral(literal: string): Component {
  const component = compileComponent(literal);
  return /[[\]\\]/.test(literal) ? (name) => name === literal || component(name) : component;
}

/** The steps that may come next: `**` may stand for nothing. */
function open(step: Step | undefined): Step[] {
  if (step === undefined) return [];
  return step.part === anyDepth ? [step, ...open(step.next)] : [step];
}

function stateOf(steps: readonly Step[]): GlobState {
  const last = steps.flatMap(({ part, next }) => (next === undefined && part !== anyDepth ? [part] : []));
  const state: GlobState = {
    matches: (name) => last.some((component) => component(name)),
    enter(name) {
      const next = new Set(steps.flatMap((step) => following(step, name)));
      if (next.size === 0) return undefined;
      // Below `**` nothing changes from one directory to the next.
      if (next.size === steps.length && steps.every((step) => next.has(step))) return state;
      return stateOf([...next]);
    },
  };
  return state;
}

function following(step: Step, name: string): Step[] {
  if (step.part === anyDepth) return open(step);
  return step.part(name) ? open(step.next) : [];
}

function foldState(state: GlobState): GlobState {
  const folded: GlobState = {
    matches: (name) => state.matches(name.toLowerCase()),
    enter(name) {
      const next = state.enter(name.toLowerCase());
      return next === state ? folded : next && foldState(next);
    },
  };
  return folded;
}

/** `a{b,c}d` → `abd`, `acd`. Braces without a comma or a partner are ordinary characters. */
export function expandBraces(pattern: string): string[] {
  const done: string[] = [];
  const pending = [pattern];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const group = firstGroup(next);
    if (group === undefined) done.push(next);
    else pending.push(...group.toReversed());
    if (done.length + pending.length > maxAlternatives)
      throw new RangeError(`the braces stand for more than ${maxAlternatives} patterns`);
  }
  return [...new Set(done)];
}

/** The alternatives of the innermost group that closes first, each put back into the pattern. */
function firstGroup(pattern: string): string[] | undefined {
  const starts: { at: number; commas: number[] }[] = [];
  let innermost: { from: number; to: number; commas: number[] } | undefined;
  for (let at = 0; at < pattern.length && innermost === undefined; at++) {
    const character = pattern[at];
    if (character === '\\') at++;
    else if (character === '{') starts.push({ at, commas: [] });
    else if (character === ',') starts.at(-1)?.commas.push(at);
    else if (character === '}') {
      const group = starts.pop();
      if (group !== undefined && group.commas.length > 0) innermost = { from: group.at, to: at, commas: group.commas };
    }
  }
  if (innermost === undefined) return undefined;
  const { from, to, commas } = innermost;
  const bounds = [from, ...commas, to];
  return commas
    .concat(to)
    .map(
      (end, index) => pattern.slice(0, from) + pattern.slice((bounds[index] ?? from) + 1, end) + pattern.slice(to + 1),
    );
}

const wildcards = /[*?[\\]/;

type Token = number | 'any' | 'star' | ((code: number) => boolean);

/** A pattern that `compileComponent` takes for this text alone. */
export function literalComponent(text: string): string {
  return text.replace(/[*?[\\]/g, String.raw`\$&`);
}

/** One component of a pattern, without braces: what git calls wildmatch. A broken pattern matches nothing, as in git. */
export function compileComponent(pattern: string): Component {
  if (!wildcards.test(pattern)) return (name) => name === pattern;
  if (pattern === '*' || pattern === '**') return () => true;
  const [before, after] = [pattern.slice(0, -1), pattern.slice(1)];
  if (pattern.startsWith('*') && !wildcards.test(after)) return (name) => name.endsWith(after);
  if (pattern.endsWith('*') && !wildcards.test(before)) return (name) => name.startsWith(before);
  const tokens = tokensOf(pattern);
  if (tokens === undefined) return () => false;
  const literal = longestLiteral(tokens);
  return (name) => name.includes(literal) && fits(tokens, name);
}

/** What every match contains: looking for it first is much faster than trying the pattern on every name. */
function longestLiteral(tokens: readonly Token[]): string {
  const runs = tokens.map((token) => (typeof token === 'number' ? String.fromCharCode(token) : '\0')).join('');
  return runs.split('\0').reduce((longest, run) => (run.length > longest.length ? run : longest), '');
}

function fits(tokens: readonly Token[], name: string): boolean {
  let [token, at, star, retry] = [0, 0, -1, 0];
  while (at < name.length) {
    const current = tokens[token];
    if (current === 'star') {
      star = token++;
      retry = at;
    } else if (current !== undefined && fitsOne(current, name.charCodeAt(at))) {
      token++;
      at++;
    } else if (star >= 0) {
      token = star + 1;
      at = ++retry;
    } else return false;
  }
  while (tokens[token] === 'star') token++;
  return token === tokens.length;
}

function fitsOne(token: Exclude<Token, 'star'>, code: number): boolean {
  if (typeof token === 'number') return token === code;
  return token === 'any' || token(code);
}

function tokensOf(pattern: string): Token[] | undefined {
  const tokens: Token[] = [];
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern[at];
    if (character === '*') tokens.push('star');
    else if (character === '?') tokens.push('any');
    else if (character === '[') {
      const set = parseSet(pattern, at);
      if (set === undefined) return undefined;
      tokens.push(set.has);
      at = set.end;
    } else {
      if (character === '\\' && ++at === pattern.length) return undefined;
      tokens.push(pattern.charCodeAt(at));
    }
  }
  return tokens;
}

const classes: Record<string, RegExp> = {
  alnum: /[A-Za-z0-9]/,
  alpha: /[A-Za-z]/,
  blank: /[ \t]/,
  cntrl: /(?![\x80-\x9f])\p{Cc}/u,
  digit: /[0-9]/,
  graph: /[!-~]/,
  lower: /[a-z]/,
  print: /[ -~]/,
  punct: /[!-/:-@[-`{-~]/,
  space: /[ \t-\r]/,
  upper: /[A-Z]/,
  xdigit: /[0-9A-Fa-f]/,
};

/** `[a-z]`, `[!x]`, `[]x]`, `[[:digit:]]`, starting at the opening bracket. */
function parseSet(pattern: string, start: number): { has: (code: number) => boolean; end: number } | undefined {
  const isNegated = pattern[start + 1] === '!' || pattern[start + 1] === '^';
  const first = start + (isNegated ? 2 : 1);
  const tests: ((code: number) => boolean)[] = [];
  for (let at = first; at < pattern.length; at++) {
    if (pattern[at] === ']' && at > first)
      return { end: at, has: (code) => tests.some((test) => test(code)) !== isNegated };
    const named = /^\[:(\w*):\]/.exec(pattern.slice(at, at + 12));
    if (named) {
      const set = classes[named[1] ?? ''];
      if (set === undefined) return undefined;
      tests.push((code) => set.test(String.fromCharCode(code)));
      at += named[0].length - 1;
      continue;
    }
    if (pattern[at] === '\\') at++;
    const low = pattern.charCodeAt(at);
    const isRange = pattern[at + 1] === '-' && at + 2 < pattern.length && pattern[at + 2] !== ']';
    if (isRange) at += pattern[at + 2] === '\\' ? 3 : 2;
    const high = pattern.charCodeAt(at);
    // In `[z-a]` git has seen the `z` before it comes to the range.
    tests.push((code) => code === low || (code >= low && code <= high));
  }
  return undefined;
}
