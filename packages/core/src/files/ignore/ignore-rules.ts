import { type BytePath, toBytePath } from '../byte-path.js';
import { isThere, readSmallFile, type SmallFileOptions } from '../small-file.js';
import { tempPrefix } from '../write/temp-name.js';
import { from, gitDirectoryIn, repositorySettings } from './git-excludes.js';
import { IgnoreFile, rulesProblem } from './ignore-file.js';

/** Whose rule hides an entry: git's, which a call may ask to disregard, or the agent's own ignore files. */
export type IgnoredBy = 'git' | 'agent';

/** Called for an ignore file that exists but cannot be used: a directory, a pipe, a gigabyte. */
export type IgnoreFileProblem = (path: BytePath, reason: string) => void;

/** Parsed rules need some forty times the memory of their text. */
const maxRuleBytes = 2 << 20;
/** Parsing a larger one would block the event loop. */
const maxIgnoreFile = 128 << 10;

/** The agent's own ignore files. */
export const agentFiles: readonly string[] = ['.qwenignore', '.latheignore'];

/**
 * Decides for every tool whether a path is ignored. Nothing is cached between calls: an ignore file is read when a call
 * reaches its directory, so a change counts at once and memory does not grow with the tree.
 *
 * Git's rules are nested `.gitignore` files, `.git/info/exclude` and the user's excludes file, inside a repository only.
 * `.qwenignore` and `.latheignore` have the same syntax, count anywhere in the workspace, and hide what they name
 * whatever git's rules say. `.git` and the temporary files of a write are always hidden.
 */
export class IgnoreRules {
  readonly #roots: readonly BytePath[];
  readonly #excludesFile: BytePath | undefined;

  /** `roots` are the workspace's directories. */
  constructor(roots: readonly string[], { excludesFile }: { excludesFile?: string | undefined } = {}) {
    this.#roots = roots.map((root) => toBytePath(root === '/' ? '' : root));
    this.#excludesFile = excludesFile === undefined ? undefined : toBytePath(excludesFile);
  }

  /** The rules for the entries of a directory that a call names, ignored or not. */
  in(directory: BytePath, onProblem: IgnoreFileProblem = () => {}): IgnoreLevel {
    const context = { roots: this.#roots, excludesFile: this.#excludesFile, onProblem, bytesLeft: maxRuleBytes };
    const names = directory.split('/').filter((name) => name !== '');
    return names.reduce((level, name) => level.named(name), IgnoreLevel.top(context));
  }

  /** Whose rule hides this file or directory, looking at every directory above it as well. */
  ignoredBy(path: string, { isDirectory }: { isDirectory: boolean }): IgnoredBy | undefined {
    const bytes = toBytePath(path);
    const slash = bytes.lastIndexOf('/');
    const level = this.in(bytes.slice(0, slash));
    return level.ignoredBy ?? level.judge(bytes.slice(slash + 1), isDirectory);
  }
}

interface Context {
  roots: readonly BytePath[];
  excludesFile: BytePath | undefined;
  onProblem: IgnoreFileProblem;
  /** How much of ignore files may still be read. */
  bytesLeft: number;
}

interface ReadOptions extends SmallFileOptions {
  ignoresCase?: boolean | undefined;
}

export interface Repository {
  /** Whether git's rules ignore case. */
  ignoresCase: boolean;
  /** The user's excludes file and, before it because it counts less, the one of the repository's own configuration. */
  excludesFiles: readonly BytePath[];
}

/** Rules, and the way to the directory at hand from the one they are relative to; empty, or with a slash at the end. */
interface ScopedRules {
  file: IgnoreFile;
  way: string;
}

interface Level {
  context: Context;
  /** Of the directory; ends in a slash. */
  path: BytePath;
  /** Nearest first; `undefined` outside a repository. */
  git: readonly ScopedRules[] | undefined;
  repository: Repository | undefined;
  /** One list per agent file name, nearest first. */
  agent: readonly (readonly ScopedRules[])[];
  ignoredBy: IgnoredBy | undefined;
}

/** The rules for the entries of one directory. Immutable; a child shares what it has in common with its parent. */
export class IgnoreLevel {
  readonly #level: Level;

  private constructor(level: Level) {
    this.#level = level;
  }

  static top(context: Context): IgnoreLevel {
    const agent = agentFiles.map(() => []);
    const above = { context, path: '', git: undefined, repository: undefined, agent, ignoredBy: undefined };
    return new IgnoreLevel(above).enter('');
  }

  /** The nearest one at or above the directory. */
  get repository(): Repository | undefined {
    return this.#level.repository;
  }

  /** Set when the directory itself is ignored and was named all the same. */
  get ignoredBy(): IgnoredBy | undefined {
    return this.#level.ignoredBy;
  }

  /** Whose rule hides an entry of this directory. */
  judge(name: string, isDirectory: boolean): IgnoredBy | undefined {
    if (this.isHiddenByAgent(name, isDirectory)) return 'agent';
    if (name === '.git') return 'git';
    return isHidden(this.#level.git ?? [], name, isDirectory) ? 'git' : undefined;
  }

  /** The same for somebody who does not care about some rules; `.git` stays hidden. */
  hiderOf(name: string, isDirectory: boolean, disregard?: ReadonlySet<IgnoredBy>): IgnoredBy | undefined {
    const verdict = this.judge(name, isDirectory);
    return verdict !== undefined && (name === '.git' || disregard?.has(verdict) !== true) ? verdict : undefined;
  }

  /** Whether a rule of the agent's own hides an entry of this directory, whatever git's rules say. */
  isHiddenByAgent(name: string, isDirectory: boolean): boolean {
    if (this.ignoredBy === 'agent' || name.startsWith(tempPrefix)) return true;
    return this.#level.agent.some((rules) => isHidden(rules, name, isDirectory));
  }

  /** The rules in a subdirectory that is not ignored. `mayUse` says which of its ignore files count. */
  enter(name: string, mayUse: (file: string) => boolean = () => true): IgnoreLevel {
    return this.#below(name, mayUse, this.#level);
  }

  /** The rules in a subdirectory that a call names: if git ignores it, git's rules above it do not count. */
  named(name: string): IgnoreLevel {
    const verdict = this.judge(name, true);
    const git = verdict === 'git' && this.#level.git !== undefined ? [] : this.#level.git;
    return this.#below(name, () => name !== '.git', { git, ignoredBy: this.ignoredBy ?? verdict });
  }

  #below(name: string, mayUse: (file: string) => boolean, inherited: Pick<Level, 'git' | 'ignoredBy'>): IgnoreLevel {
    const { context, path: parent, agent: outer } = this.#level;
    const path = `${parent}${name}/`;
    const has = (file: string) => mayUse(file) && isThere(path + file);
    const own = has('.git') ? this.#repositoryIn(path) : undefined;
    const above = own?.rules ?? (inherited.git && seenFrom(name, inherited.git));
    const repository = own?.repository ?? this.repository;
    const git =
      above === undefined || !has('.gitignore')
        ? above
        : this.#with(above, `${path}.gitignore`, { isLinkRefused: true, ignoresCase: repository?.ignoresCase });
    const isInWorkspace = context.roots.some((root) => path.startsWith(`${root}/`));
    const agent = outer.map((scoped, index) => {
      const file = agentFiles[index];
      const rules = seenFrom(name, scoped);
      return isInWorkspace && file !== undefined && has(file) ? this.#with(rules, path + file) : rules;
    });
    return new IgnoreLevel({ context, path, git, repository, agent, ignoredBy: inherited.ignoredBy });
  }

  /** What applies to a whole repository: its own excludes before the user's; `undefined` when there is none. */
  #repositoryIn(directory: BytePath): { repository: Repository; rules: readonly ScopedRules[] } | undefined {
    const git = gitDirectoryIn(directory, this.#level.context.onProblem);
    if (!git.isRepository) return undefined;
    const { excludesFile: configured, ignoresCase = false } = repositorySettings(directory, git);
    const { excludesFile } = this.#level.context;
    const user = excludesFile === undefined ? undefined : from(directory, excludesFile);
    // In git the repository's file replaces the user's. Here it comes after it, so that it can only hide more.
    const chosen = configured === undefined ? [] : this.#with([], configured, { onProblem: () => {}, ignoresCase });
    const excluded = user === undefined ? chosen : this.#with(chosen, user, { ignoresCase });
    const rules = this.#with(excluded, `${git.common}/info/exclude`, { ignoresCase });
    const excludesFiles = [configured, user].filter((file) => file !== undefined);
    return { repository: { ignoresCase, excludesFiles }, rules };
  }

  #with(rules: readonly ScopedRules[], path: BytePath, options: ReadOptions = {}): readonly ScopedRules[] {
    const { context } = this.#level;
    const { onProblem = (reason: string) => context.onProblem(path, reason), ignoresCase, ...others } = options;
    const text = readSmallFile(path, { onProblem, maxBytes: maxIgnoreFile, ...others });
    if (text === undefined) return rules;
    const problem = rulesProblem(text) ?? spend(context, text.length);
    if (problem !== undefined) onProblem(problem);
    const file = problem === undefined ? IgnoreFile.parse(text, { ignoresCase }) : undefined;
    return file === undefined ? rules : [{ file, way: '' }, ...rules];
  }
}

function spend(context: Context, bytes: number): string | undefined {
  if (bytes > context.bytesLeft) return `all ignore files together are larger than ${maxRuleBytes >> 20} MB`;
  context.bytesLeft -= bytes;
  return undefined;
}

function seenFrom(name: string, rules: readonly ScopedRules[]): readonly ScopedRules[] {
  return rules.map(({ file, way }) => ({ file, way: `${way}${name}/` }));
}

function isHidden(rules: readonly ScopedRules[], name: string, isDirectory: boolean): boolean {
  for (const { file, way } of rules) {
    const verdict = file.judge(way, name, isDirectory);
    if (verdict !== undefined) return verdict;
  }
  return false;
}
