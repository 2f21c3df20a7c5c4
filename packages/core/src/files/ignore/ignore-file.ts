import { compileGitGlob } from '../../text/glob/git-glob.js';
import { compileComponent, lowerAscii } from '../../text/glob/glob-component.js';

export interface IgnoreFileOptions {
  /** As git has it: letters of ASCII in any case. */
  ignoresCase?: boolean | undefined;
}

/** One parsed ignore file, in git's syntax. The last rule that matches decides. */
export class IgnoreFile {
  // Nearly all rules end in a plain name or an extension: each kind costs one look-up, however many there are.
  readonly #byName = new Map<string, Rule>();
  readonly #byExtension = new Map<string, Rule>();
  readonly #ignoresCase: boolean;
  #others: Rule | undefined;

  private constructor({ ignoresCase = false }: IgnoreFileOptions) {
    this.#ignoresCase = ignoresCase;
  }

  /** `text` has one character per byte. `undefined` when there is no rule in it. */
  static parse(text: string, options: IgnoreFileOptions = {}): IgnoreFile | undefined {
    const file = new IgnoreFile(options);
    let start = text.startsWith('\xef\xbb\xbf') ? 3 : 0;
    for (let order = 0; start < text.length; order++) {
      const newline = text.indexOf('\n', start);
      const end = newline < 0 ? text.length : newline;
      file.#add(text.slice(start, text[end - 1] === '\r' && end > start ? end - 1 : end), order);
      start = end + 1;
    }
    return file.#isEmpty ? undefined : file;
  }

  get #isEmpty(): boolean {
    return this.#byName.size === 0 && this.#byExtension.size === 0 && this.#others === undefined;
  }

  #add(line: string, order: number): void {
    const rule = parseRule(line, order, this.#ignoresCase);
    if (rule === undefined) return;
    if (rule.name !== undefined) prepend(this.#byName, rule.name, rule);
    else if (rule.extension !== undefined) prepend(this.#byExtension, rule.extension, rule);
    else {
      rule.before = this.#others;
      this.#others = rule;
    }
  }

  /**
   * `true` when ignored, `false` when taken back in by a `!` rule, `undefined` when not mentioned. `directory` leads from
   * the place the rules hold for to the entry; it is empty or ends in a slash.
   */
  judge(directory: string, name: string, isDirectory: boolean): boolean | undefined {
    if (!this.#ignoresCase) return this.#judge(directory, name, isDirectory);
    return this.#judge(lowerAscii(directory), lowerAscii(name), isDirectory);
  }

  #judge(directory: string, name: string, isDirectory: boolean): boolean | undefined {
    const dot = this.#byExtension.size === 0 ? -1 : name.lastIndexOf('.');
    const named = lastMatch(this.#byName.get(name), directory, name, isDirectory);
    const extended =
      dot < 0 ? undefined : lastMatch(this.#byExtension.get(name.slice(dot)), directory, name, isDirectory);
    const other = lastMatch(this.#others, directory, name, isDirectory);
    const decisive = later(later(named, extended), other);
    return decisive && !decisive.isNegated;
  }
}

function lastMatch(last: Rule | undefined, directory: string, name: string, isDirectory: boolean): Rule | undefined {
  for (let rule = last; rule !== undefined; rule = rule.before)
    if ((isDirectory || !rule.isForDirectories) && rule.matches(name, directory)) return rule;
  return undefined;
}

function later(a: Rule | undefined, b: Rule | undefined): Rule | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return a.order > b.order ? a : b;
}

function prepend(last: Map<string, Rule>, key: string, rule: Rule): void {
  rule.before = last.get(key);
  last.set(key, rule);
}

interface Rule extends Meaning {
  order: number;
  isNegated: boolean;
  isForDirectories: boolean;
  /** The one before it that is looked up in the same way. */
  before: Rule | undefined;
}

interface Meaning {
  /** Set when only entries of this name can match. */
  name: string | undefined;
  /** Set when only entries with this extension, dot included, can match. */
  extension: string | undefined;
  matches: (name: string, directory: string) => boolean;
}

const wildcards = /[*?[\\]/;

function parseRule(line: string, order: number, ignoresCase: boolean): Rule | undefined {
  if (line.startsWith('#')) return undefined;
  // Git's lines end where C's strings do.
  const zero = line.indexOf('\0');
  const text = withoutTrailingSpaces(zero < 0 ? line : line.slice(0, zero));
  const isNegated = text.startsWith('!');
  const isForDirectories = text.endsWith('/');
  const pattern = text.slice(isNegated ? 1 : 0, isForDirectories ? -1 : undefined);
  if (pattern === '') return undefined;
  const { name, extension, matches } = (pattern.includes('/') ? pathRule : nameRule)(pattern, ignoresCase);
  return { order, isNegated, isForDirectories, name, extension, matches, before: undefined };
}

const always = () => true;

/** A rule without a slash holds for a name at any depth. */
function nameRule(pattern: string, ignoresCase: boolean): Meaning {
  const lowered = ignoresCase ? lowerAscii(pattern) : pattern;
  if (!wildcards.test(pattern)) return { name: lowered, extension: undefined, matches: always };
  const extension = /^\*[^*?[\\]*(\.[^.*?[\\]*)$/.exec(lowered)?.[1];
  return { name: undefined, extension, matches: compileComponent(pattern, { namesAreLowered: ignoresCase }) };
}

/** A rule with a slash holds for one path, seen from the directory of its file. */
function pathRule(pattern: string, ignoresCase: boolean): Meaning {
  const relative = pattern.startsWith('/') ? pattern.slice(1) : pattern;
  const { name, matches } = compileGitGlob(relative, { namesAreLowered: ignoresCase });
  return { name, extension: undefined, matches: (last, directory) => matches(directory + last) };
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
 * Why an ignore file asks for too much. A rule with a wildcard is tried on every name, one without is looked up: beyond
 * so many the rules would take longer than all the rest.
 */
export function rulesProblem(text: string): string | undefined {
  if (text.length < maxWildcardRules) return undefined;
  const count = text.match(/^(?!#)[^*?[\\\n]*[*?[\\]/gm)?.length ?? 0;
  return count > maxWildcardRules ? `more than ${maxWildcardRules} rules with wildcards` : undefined;
}
