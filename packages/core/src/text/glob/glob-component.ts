/** Tests one path component. */
export type Component = (name: string) => boolean;

export interface ComponentOptions {
  /** Pattern and names were passed through `foldCase`. */
  ignoreCase?: boolean;
  /** Names were passed through `lowerAscii`, and the pattern is matched as git does with `core.ignoreCase`. */
  namesAreLowered?: boolean;
}

export function lowerAscii(text: string): string {
  return /[A-Z]/.test(text) ? text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase()) : text;
}

/** Lower case, with the final sigma as an ordinary sigma. */
export function foldCase(text: string): string {
  const lower = text.toLowerCase();
  return lower.includes('ς') ? lower.replaceAll('ς', 'σ') : lower;
}

/** A pattern that matches exactly this text. */
export function literalComponent(text: string): string {
  return text.replace(/[*?[\\]/g, String.raw`\$&`);
}

/** Compiles one component of a pattern, without braces (git's wildmatch). An invalid pattern matches nothing, as in git. */
export function compileComponent(pattern: string, options: ComponentOptions = {}): Component {
  if (!/[*?[\\]/.test(pattern)) return (name) => name === pattern;
  const tokens = tokensOf(pattern, options);
  return tokens === undefined ? () => false : compileTokens(tokens);
}

/** A character by its code point, `?`, `*`, or a set. */
export type Token = number | 'any' | 'star' | ((code: number) => boolean);

export function compileTokens(tokens: readonly Token[]): Component {
  const literal = longestLiteral(tokens);
  return (name) => name.includes(literal) && fits(tokens, name);
}

/** A text that every match contains: testing for it first is much faster than matching every name. */
function longestLiteral(tokens: readonly Token[]): string {
  const runs = tokens.map((token) => (typeof token === 'number' ? String.fromCodePoint(token) : '\0')).join('');
  return runs.split('\0').reduce((longest, run) => (run.length > longest.length ? run : longest), '');
}

function fits(tokens: readonly Token[], name: string): boolean {
  let [token, at, star, retry] = [0, 0, -1, 0];
  while (at < name.length) {
    const current = tokens[token];
    if (current === 'star') {
      star = token++;
      retry = at;
    } else if (current !== undefined && fitsOne(current, name.codePointAt(at) ?? 0)) {
      token++;
      at = next(name, at);
    } else if (star >= 0) {
      token = star + 1;
      at = retry = next(name, retry);
    } else return false;
  }
  while (tokens[token] === 'star') token++;
  return token === tokens.length;
}

/** The start of the next character. */
function next(name: string, at: number): number {
  return at + ((name.codePointAt(at) ?? 0) > 0xffff ? 2 : 1);
}

function fitsOne(token: Exclude<Token, 'star'>, code: number): boolean {
  if (typeof token === 'number') return token === code;
  return token === 'any' || token(code);
}

/** `undefined` when the pattern is invalid. */
export function tokensOf(pattern: string, options: ComponentOptions = {}): Token[] | undefined {
  const characters = Array.from(pattern);
  const tokens: Token[] = [];
  for (let at = 0; at < characters.length; at++) {
    const character = characters[at];
    if (character === '*') tokens.push('star');
    else if (character === '?') tokens.push('any');
    else if (character === '[') {
      const set = parseSet(characters, at, options);
      if (set === undefined) return undefined;
      tokens.push(set.has);
      at = set.end;
    } else if (character === '\\') {
      if (++at === characters.length) return undefined;
      // Git compares an escaped character exactly, even with `core.ignoreCase`.
      tokens.push(codeAt(characters, at));
    } else {
      const code = codeAt(characters, at);
      tokens.push(options.namesAreLowered && code >= 65 && code <= 90 ? code + caseGap : code);
    }
  }
  return tokens;
}

/** The distance from an upper-case ASCII letter to its lower-case one. */
const caseGap = 32;

function codeAt(characters: readonly string[], at: number): number {
  return characters[at]?.codePointAt(0) ?? Number.NaN;
}

/** As in git: ASCII only. */
const classes = new Map([
  ['alnum', /[A-Za-z0-9]/],
  ['alpha', /[A-Za-z]/],
  ['blank', /[ \t]/],
  ['cntrl', /(?![\x80-\x9f])\p{Cc}/u],
  ['digit', /[0-9]/],
  ['graph', /[!-~]/],
  ['lower', /[a-z]/],
  ['print', /[ -~]/],
  ['punct', /[!-/:-@[-`{-~]/],
  ['space', /[ \t\n\r]/],
  ['upper', /[A-Z]/],
  ['xdigit', /[0-9A-Fa-f]/],
]);

/** A parsed element of a set, and the index of its last character. */
interface Parsed {
  has: (code: number) => boolean;
  end: number;
}

/** `[a-z]`, `[!x]`, `[]x]`, `[[:digit:]]`, starting at the opening bracket; `undefined` when it is invalid. */
function parseSet(characters: readonly string[], start: number, options: ComponentOptions): Parsed | undefined {
  const isNegated = characters[start + 1] === '!' || characters[start + 1] === '^';
  const first = start + (isNegated ? 2 : 1);
  const members: Parsed[] = [];
  for (let at = first; at < characters.length; at++) {
    if (characters[at] === ']' && at > first)
      return { end: at, has: (code) => members.some(({ has }) => has(code)) !== isNegated };
    const named = classAt(characters, at);
    const member = named === undefined ? parseRange(characters, at, options) : parseClass(named, at, options);
    if (member === undefined) return undefined;
    members.push(member);
    at = member.end;
  }
  return undefined;
}

function parseClass(name: string, start: number, options: ComponentOptions): Parsed | undefined {
  const isFolded = options.ignoreCase || options.namesAreLowered;
  const letters = classes.get(isFolded && name === 'upper' ? 'lower' : name);
  const end = start + '[::]'.length + name.length - 1;
  return letters && { end, has: (code) => letters.test(String.fromCodePoint(code)) };
}

/** `a-z`, or a single character. */
function parseRange(characters: readonly string[], start: number, options: ComponentOptions): Parsed {
  const from = characters[start] === '\\' ? start + 1 : start;
  const isRange = characters[from + 1] === '-' && from + 2 < characters.length && characters[from + 2] !== ']';
  const to = isRange ? from + (characters[from + 2] === '\\' ? 3 : 2) : from;
  const [low, high] = [codeAt(characters, from), codeAt(characters, to)];
  const isIn = (code: number) => code >= low && code <= high;
  // Git ignores case for the letters of a range, but not for a single upper-case letter.
  const isCapital = (code: number) => code >= 97 && code <= 122 && isIn(code - caseGap);
  // In `[z-a]` git matches the `z`, because it compares the first character before the range.
  if (!isRange || !options.namesAreLowered) return { end: to, has: (code) => code === low || isIn(code) };
  return { end: to, has: (code) => code === low || isIn(code) || isCapital(code) };
}

/** The name of a class such as `[:digit:]`, known or not. */
function classAt(characters: readonly string[], at: number): string | undefined {
  if (characters[at] !== '[' || characters[at + 1] !== ':') return undefined;
  const end = characters.indexOf(']', at + 2);
  return end > at + 2 && characters[end - 1] === ':' ? characters.slice(at + 2, end - 1).join('') : undefined;
}
