import { anyDepth, globOfParts, type Part } from '../../text/glob/compile-glob.js';
import type { Component, ComponentOptions, Token } from '../../text/glob/glob-component.js';
import { compileComponent, compileTokens, lowerAscii, tokensOf } from '../../text/glob/glob-component.js';

export interface IgnoreFileOptions {
  /** As git has it: letters of ASCII in any case. */
  ignoresCase?: boolean | undefined;
}

/** One parsed ignore file, in git's syntax. The last rule that matches decides. */
export class IgnoreFile {
  /** Most rules name one entry: they cost one look-up, however many there are. */
  readonly #byName = new Map<string, Rule[]>();
  readonly #others: Rule[] = [];
  readonly #ignoresCase: boolean;

  private constructor({ ignoresCase = false }: IgnoreFileOptions) {
    this.#ignoresCase = ignoresCase;
  }

  /** `text` has one character per byte. `undefined` when there is no rule in it. */
  static parse(text: string, options: IgnoreFileOptions = {}): IgnoreFile | undefined {
    const file = new IgnoreFile(options);
    const lines = text.replace(/^\xef\xbb\xbf/, '').split('\n');
    for (const [order, line] of lines.entries()) file.#add(line.replace(/\r$/, ''), order);
    return file.#byName.size === 0 && file.#others.length === 0 ? undefined : file;
  }

  #add(line: string, order: number): void {
    const rule = parseRule(line, order, this.#ignoresCase);
    if (rule === undefined) return;
    const rules = rule.name === undefined ? this.#others : (this.#byName.get(rule.name) ?? []);
    if (rule.name !== undefined) this.#byName.set(rule.name, rules);
    rules.push(rule);
  }

  /**
   * `true` when ignored, `false` when taken back in by a `!` rule, `undefined` when not mentioned. `directory` leads from
   * the directory of the rules to the entry; it is empty or ends in a slash.
   */
  judge(directory: string, name: string, isDirectory: boolean): boolean | undefined {
    const [way, entry] = this.#ignoresCase ? [lowerAscii(directory), lowerAscii(name)] : [directory, name];
    const isMatch = (rule: Rule) => (isDirectory || !rule.isForDirectories) && rule.matches(entry, way);
    const named = this.#byName.get(entry)?.findLast(isMatch);
    const other = this.#others.findLast(isMatch);
    const decisive = (named?.order ?? -1) > (other?.order ?? -1) ? named : other;
    return decisive && !decisive.isNegated;
  }
}

interface Rule extends Meaning {
  order: number;
  isNegated: boolean;
  isForDirectories: boolean;
}

interface Meaning {
  /** Set when only entries of this name can match. */
  name: string | undefined;
  matches: (name: string, directory: string) => boolean;
}

const wildcards = /[*?[\\]/;

function parseRule(line: string, order: number, ignoresCase: boolean): Rule | undefined {
  if (line.startsWith('#')) return undefined;
  // For git a line ends at a NUL.
  const zero = line.indexOf('\0');
  const text = withoutTrailingSpaces(zero < 0 ? line : line.slice(0, zero));
  const isNegated = text.startsWith('!');
  const isForDirectories = text.endsWith('/');
  const pattern = text.slice(isNegated ? 1 : 0, isForDirectories ? -1 : undefined);
  if (pattern === '') return undefined;
  const meaning = (pattern.includes('/') ? pathRule : nameRule)(pattern, ignoresCase);
  return { ...meaning, order, isNegated, isForDirectories };
}

/** A rule without a slash applies to a name at any depth. */
function nameRule(pattern: string, ignoresCase: boolean): Meaning {
  if (!wildcards.test(pattern)) return { name: ignoresCase ? lowerAscii(pattern) : pattern, matches: () => true };
  return { name: undefined, matches: compileComponent(pattern, { namesAreLowered: ignoresCase }) };
}

/** A rule with a slash applies to one path, seen from the directory of its file. */
function pathRule(pattern: string, ignoresCase: boolean): Meaning {
  const relative = pattern.startsWith('/') ? pattern.slice(1) : pattern;
  const { name, matches } = compileGitGlob(relative, { namesAreLowered: ignoresCase });
  return { name, matches: (last, directory) => matches(directory + last) };
}

/** Spaces at the end do not count unless a backslash protects them. */
function withoutTrailingSpaces(line: string): string {
  let end = line.length;
  while (line[end - 1] === ' ') end--;
  let backslashes = 0;
  while (line[end - 1 - backslashes] === '\\') backslashes++;
  return line.slice(0, backslashes % 2 === 1 && end < line.length ? end + 1 : end);
}

const maxWildcardRules = 5000;

/**
 * Why an ignore file is too expensive. A rule with a wildcard is tested on every name, one without is looked up: too many
 * would take longer than the rest of the search.
 */
export function rulesProblem(text: string): string | undefined {
  if (text.length < maxWildcardRules) return undefined;
  const count = text.match(/^(?!#)[^*?[\\\n]*[*?[\\]/gm)?.length ?? 0;
  return count > maxWildcardRules ? `more than ${maxWildcardRules} rules with wildcards` : undefined;
}

/** A pattern with slashes as git interprets it: without braces. */
export interface GitGlob {
  /** Tests a whole relative path. */
  matches: (path: string) => boolean;
  /** Set when every path that matches ends in this name. */
  name?: string;
}

const slash = '/'.charCodeAt(0);

function compileGitGlob(pattern: string, options: Pick<ComponentOptions, 'namesAreLowered'> = {}): GitGlob {
  // Git compares the text before the first wildcard literally and matches only the rest as a pattern.
  const first = pattern.search(/[*?[\\]|$/);
  const folded = options.namesAreLowered ? lowerAscii(pattern) : pattern;
  if (first === pattern.length)
    return { name: folded.slice(folded.lastIndexOf('/') + 1), matches: (path) => path === folded };
  const before = folded.slice(0, first);
  const tokens = tokensOf(pattern.slice(first), options);
  if (tokens === undefined) return { matches: () => false };
  const parts = partsOf(tokens);
  const matchesRest = compileParts(parts);
  const matches = (path: string) => path.startsWith(before) && matchesRest(path.slice(before.length));
  // In git `a**/b` also matches `ab`.
  const isWhole = before === '' || before.endsWith('/') || parts[0] !== anyDepth;
  const name = /(?:^|\/)([^*?[\\\]/]+)$/.exec(folded)?.[1];
  return name !== undefined && isWhole ? { matches, name } : { matches };
}

/** Splits at slashes outside of sets; a part of two or more stars stands for any number of directories. */
function partsOf(tokens: readonly Token[]): Part[] {
  const parts: Token[][] = [[]];
  for (const token of tokens) {
    if (token === slash) parts.push([]);
    else parts.at(-1)?.push(token);
  }
  return parts.map((part) =>
    part.length > 1 && part.every((token) => token === 'star') ? anyDepth : compileTokens(part),
  );
}

function compileParts(parts: readonly Part[]): (path: string) => boolean {
  const components = parts.filter((part) => part !== anyDepth);
  if (components.length === parts.length) return inOrder(components);
  const glob = globOfParts(parts);
  return (path) => glob.matches(path);
}

/** Without `**`, one pass over the path is enough: it takes a quarter of the time of `globOfParts`. */
function inOrder(components: readonly Component[]): (path: string) => boolean {
  return (path) => {
    let start = 0;
    for (const [index, component] of components.entries()) {
      const end = path.indexOf('/', start);
      const isLast = index === components.length - 1;
      if (end < 0 !== isLast || !component(isLast ? path.slice(start) : path.slice(start, end))) return false;
      start = end + 1;
    }
    return true;
  };
}
