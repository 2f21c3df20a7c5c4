import { compileGitGlob } from '../text/git-glob.js';
import { compileComponent } from '../text/glob-component.js';

/** One parsed ignore file, in git's syntax. The last rule that matches decides. */
export class IgnoreFile {
  // Nearly all rules end in a plain name or an extension: each kind costs one look-up, however many there are.
  readonly #byName = new Map<string, Rule[]>();
  readonly #byExtension = new Map<string, Rule[]>();
  readonly #others: Rule[] = [];

  private constructor(rules: readonly Rule[]) {
    // Last rule first, so that the first match decides.
    for (const rule of rules.toReversed()) {
      if (rule.name !== undefined) append(this.#byName, rule.name, rule);
      else if (rule.extension !== undefined) append(this.#byExtension, rule.extension, rule);
      else this.#others.push(rule);
    }
  }

  /** `text` has one character per byte. `undefined` when there is no rule in it. */
  static parse(text: string): IgnoreFile | undefined {
    const lines = text.replace(/^\xef\xbb\xbf/, '').split('\n');
    const rules = lines.flatMap((line, order) => parseRule(line.replace(/\r$/, ''), order) ?? []);
    return rules.length === 0 ? undefined : new IgnoreFile(rules);
  }

  /**
   * `true` when ignored, `false` when taken back in by a `!` rule, `undefined` when not mentioned. `directory` leads from
   * the place the rules hold for to the entry; it is empty or ends in a slash.
   */
  judge(directory: string, name: string, isDirectory: boolean): boolean | undefined {
    const dot = this.#byExtension.size === 0 ? -1 : name.lastIndexOf('.');
    const named = firstMatch(this.#byName.get(name), directory, name, isDirectory);
    const extended =
      dot < 0 ? undefined : firstMatch(this.#byExtension.get(name.slice(dot)), directory, name, isDirectory);
    const other = firstMatch(this.#others, directory, name, isDirectory);
    const decisive = later(later(named, extended), other);
    return decisive && !decisive.isNegated;
  }
}

function firstMatch(rules: readonly Rule[] | undefined, directory: string, name: string, isDirectory: boolean) {
  if (rules === undefined) return undefined;
  for (const rule of rules) if ((isDirectory || !rule.isForDirectories) && rule.matches(name, directory)) return rule;
  return undefined;
}

function later(a: Rule | undefined, b: Rule | undefined): Rule | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return a.order > b.order ? a : b;
}

interface Rule {
  order: number;
  isNegated: boolean;
  isForDirectories: boolean;
  /** Set when only entries of this name can match. */
  name?: string;
  /** Set when only entries with this extension, dot included, can match. */
  extension?: string;
  matches(name: string, directory: string): boolean;
}

const wildcards = /[*?[\\]/;

function parseRule(line: string, order: number): Rule | undefined {
  if (line.startsWith('#')) return undefined;
  // Git's lines end where C's strings do.
  const text = withoutTrailingSpaces(line.replace(/\0.*/s, ''));
  const isNegated = text.startsWith('!');
  const body = isNegated ? text.slice(1) : text;
  const isForDirectories = body.endsWith('/');
  const pattern = isForDirectories ? body.slice(0, -1) : body;
  if (pattern === '') return undefined;
  return { order, isNegated, isForDirectories, ...(pattern.includes('/') ? pathRule(pattern) : nameRule(pattern)) };
}

/** A rule without a slash holds for a name at any depth. */
function nameRule(pattern: string): Pick<Rule, 'name' | 'extension' | 'matches'> {
  if (!wildcards.test(pattern)) return { name: pattern, matches: () => true };
  const component = compileComponent(pattern);
  const extension = /^\*[^*?[\\]*(\.[^.*?[\\]*)$/.exec(pattern)?.[1];
  return { ...(extension !== undefined && { extension }), matches: component };
}

/** A rule with a slash holds for one path, seen from the directory of its file. */
function pathRule(pattern: string): Pick<Rule, 'name' | 'matches'> {
  const { name, matches } = compileGitGlob(pattern.replace(/^\//, ''));
  return { ...(name !== undefined && { name }), matches: (last, directory) => matches(directory + last) };
}

/** Spaces at the end do not count unless a backslash protects them. */
function withoutTrailingSpaces(line: string): string {
  let end = line.length;
  while (line[end - 1] === ' ') end--;
  let backslashes = 0;
  while (line[end - 1 - backslashes] === '\\') backslashes++;
  return line.slice(0, backslashes % 2 === 1 && end < line.length ? end + 1 : end);
}

function append(map: Map<string, Rule[]>, key: string, rule: Rule): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [rule]);
  else list.push(rule);
}
