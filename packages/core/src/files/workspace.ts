import { existsSync, realpathSync } from 'node:fs';
import { lstat, readlink, realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { ToolError } from '../contract/errors.js';
import { foldName, gitDirectoryOf, protectionOf, secrecyOf, sensitivityOf } from './access/protected-paths.js';
import type { EditorFiles } from './editor-files.js';
import { canonicalSpelling, osPath, shownPath } from './file-name.js';
import { codeOf, readFailure } from './fs-error.js';

/** Where a path really leads, and what that means for a call that reads or writes it. */
export interface Location {
  /** Absolute, every symbolic link resolved; for a file that does not exist yet, through its nearest existing parent. */
  path: string;
  /** The absolute path as it was spelled, if symlinks lead from it to `path`. */
  alias?: string;
  /** Inside one of the workspace's directories. */
  inside: boolean;
  /** Outside, but in a directory the agent may always read, such as the one for spilled output. */
  readable?: boolean;
  /** Why writing here always needs a person's approval: settings, hooks, start-up files … */
  guarded?: string;
  /** Why reading here always needs a person's approval: private keys, stored credentials … */
  secret?: string;
  /** Why reading here needs approval unless a rule names exactly this file: a `.env`, a private key of the project … */
  sensitive?: string;
}

export interface WorkspaceOptions {
  /** Directories outside that may be read without asking. */
  readable?: readonly string[];
  /** Directories of our own state: reading or writing them asks, whatever their name. */
  guarded?: readonly string[];
  /** A worktree that Lathe made inside a guarded directory, and that is itself not guarded. */
  worktree?: string | undefined;
  /** Files that the user's hooks run, and what git's configuration names: writing them always asks. */
  executed?: readonly string[];
  /** What protected names lead to as symlinks: writing it always asks. */
  linked?: readonly string[];
  /** Why a real path outside the workspace is private, so that reading it asks; `undefined` if it is not. */
  privacyOf?: (real: string) => string | undefined;
  /** The directory that commands see as `/tmp`. What they wrote there is found under either name. */
  tmp?: string;
  /** Names of files that the agent obeys, in every folder: writing them always asks. */
  obeyed?: readonly string[];
  /** Files that are open in an editor, with text that is not on disk. */
  editor?: EditorFiles | undefined;
}

type OpenedOptions = Required<Omit<WorkspaceOptions, 'tmp' | 'editor' | 'worktree'>> &
  Record<'tmp' | 'worktree', string | undefined>;

/** The state of this program itself, and private places of home directories. */
export interface OwnState {
  /** Its directories inside the directory that is searched. */
  roots: readonly string[];
  has(real: string): boolean;
}

/**
 * The directories an agent works in. A `Location` is where a path leads now; readers and writers verify it again on the
 * open descriptor. Paths are spelled as in file-name.ts: pass them to `fs` through `osPath`.
 */
export class Workspace {
  /** Real paths, the first one being the directory the agent was started in. */
  readonly roots: readonly [string, ...string[]];
  readonly editor: EditorFiles | undefined;
  readonly #options: OpenedOptions;
  readonly #readable: string[];
  readonly #offered = new Set<string>();

  private constructor(
    roots: readonly [string, ...string[]],
    { editor, ...options }: OpenedOptions & Pick<WorkspaceOptions, 'editor'>,
  ) {
    this.roots = roots;
    this.editor = editor;
    this.#options = options;
    this.#readable = [...options.readable];
  }

  /** `extra` are further directories to work in; one that is missing counts as soon as it exists. */
  static async open(
    directory: string,
    extra: readonly string[] = [],
    {
      readable = [],
      guarded = [],
      executed = [],
      linked = [],
      obeyed = [],
      privacyOf = () => undefined,
      worktree,
      tmp,
      editor,
    }: WorkspaceOptions = {},
  ): Promise<Workspace> {
    const first = await existingPath(resolve(directory));
    const others = await Promise.all(extra.map((path) => realPathOf(resolve(first, path))));
    return new Workspace([first, ...others], {
      privacyOf,
      linked,
      editor,
      worktree,
      tmp: tmp && (await realPathOf(tmp)),
      readable: await Promise.all(readable.map((path) => realPathOf(resolve(path)))),
      guarded: await Promise.all(guarded.map((path) => realPathOf(resolve(path)))),
      executed: await Promise.all(executed.map((path) => realPathOf(resolve(path)))),
      obeyed: obeyed.map(foldName),
    });
  }

  get root(): string {
    return this.roots[0];
  }

  /** Lets the agent read one more directory outside without asking. */
  async allowReading(directory: string): Promise<void> {
    this.#readable.push(await realPathOf(resolve(directory)));
  }

  /** Also shows the directory to commands in the sandbox. */
  async offer(directory: string): Promise<void> {
    await this.allowReading(directory);
    this.#offered.add(await realPathOf(resolve(directory)));
  }

  /** Directories outside that commands in the sandbox see. */
  get offered(): ReadonlySet<string> {
    return this.#offered;
  }

  async locate(path: string): Promise<Location> {
    const odd = oddSpelling(path);
    if (odd !== undefined)
      throw new ToolError('invalid_tool_params', `The path ${JSON.stringify(path)} is refused: ${odd}.`);
    const spelled = resolve(this.root, canonicalSpelling(path));
    const real = await realPathOf(spelled, this.contains(spelled) ? existingPathNow : existingPath);
    // A symlink with a telling name leads to a file that programs find by this name.
    const names = real === spelled ? [real] : [real, spelled];
    const guarded =
      firstOf(names, protectionOf) ??
      gitDirectoryOf(real) ??
      this.#ownState(real) ??
      firstOf(names, (name) => this.#execution(name));
    const secret = this.secrecyOf(real) ?? secrecyOf(spelled);
    const sensitive = secret === undefined ? firstOf(names, sensitivityOf) : undefined;
    return {
      path: real,
      ...(real !== spelled && { alias: spelled }),
      inside: this.contains(real),
      ...(this.#isReadable(real) && { readable: true }),
      ...(guarded !== undefined && { guarded }),
      ...(secret !== undefined && { secret }),
      ...(sensitive !== undefined && { sensitive }),
    };
  }

  /** Why reading a real path needs a person's approval: it holds keys or credentials, or our own state. */
  secrecyOf(real: string): string | undefined {
    if (this.#isReadable(real)) return secrecyOf(real);
    return secrecyOf(real) ?? this.#ownState(real) ?? (this.contains(real) ? undefined : this.#options.privacyOf(real));
  }

  /** The spelling of a path in `/tmp` for tools that run outside the sandbox, if only commands have written it. */
  outsideSandbox(path: string): string {
    const { tmp } = this.#options;
    if (tmp === undefined || !isWithin('/tmp', path) || this.contains(path) || existsSync(osPath(path))) return path;
    const shared = join(tmp, relative('/tmp', path));
    return existsSync(osPath(shared)) ? shared : path;
  }

  /** Our own state and private places, for a search of `directory`; `undefined` when there are none in it. */
  ownStateIn(directory: string): OwnState | undefined {
    const { guarded, privacyOf } = this.#options;
    const isOutside = !this.contains(directory);
    if (!isOutside && !guarded.some((root) => isWithin(directory, root) || isWithin(root, directory))) return undefined;
    const isPrivate = (real: string) => isOutside && !this.contains(real) && privacyOf(real) !== undefined;
    return {
      roots: guarded.filter((root) => isWithin(directory, root)),
      has: (real) => !this.#isReadable(real) && (this.#ownState(real) !== undefined || isPrivate(real)),
    };
  }

  #isReadable(real: string): boolean {
    return this.#readable.some((root) => isWithin(root, real));
  }

  #execution(real: string): string | undefined {
    const { executed, linked } = this.#options;
    if (executed.some((path) => isWithin(path, real))) return `a hook runs ${real}, or git obeys it`;
    if (linked.some((path) => isWithin(path, real))) return `a symlink with a protected name leads to ${real}`;
    const name = basename(real);
    return this.#options.obeyed.includes(foldName(name)) ? `${name} holds instructions for agents` : undefined;
  }

  #ownState(real: string): string | undefined {
    const { guarded, tmp, worktree } = this.#options;
    if (tmp !== undefined && isWithin(tmp, real)) return undefined;
    if (worktree !== undefined && isWithin(worktree, real)) return undefined;
    const root = guarded.find((candidate) => isWithin(candidate, real));
    return root === undefined ? undefined : `${root} holds the state and settings of this program`;
  }

  /** Whether a real path lies in one of the roots, compared by whole path components. */
  contains(realPath: string): boolean {
    return this.roots.some((root) => isWithin(root, realPath));
  }

  /** The path as people read it: relative to the workspace when inside. */
  display(path: string): string {
    const root = this.roots.find((candidate) => isWithin(candidate, path));
    return root === undefined ? path : relative(root, path) || '.';
  }
}

function firstOf(names: readonly string[], judge: (name: string) => string | undefined): string | undefined {
  return names.map(judge).find((reason) => reason !== undefined);
}

/** Whether a path is a directory or lies below it. */
export function isWithin(root: string, path: string): boolean {
  if (isPlain(root) && isPlain(path)) return path === root || path.startsWith(`${root}/`);
  const way = relative(root, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

/** An absolute POSIX path without empty or dotted segments: as most are, and then no resolving is needed. */
function isPlain(path: string): boolean {
  if (sep !== '/' || !path.startsWith('/') || path.endsWith('/') || path.includes('//')) return false;
  return !path.includes('/.') || !/\/\.{1,2}(?:\/|$)/.test(path);
}

/** Why a path is rejected without a look at the file system: no honest call spells it so, or it reaches another machine. */
export function oddSpelling(path: string, platform = process.platform): string | undefined {
  if (path === '') return 'it is empty';
  if (path.length > maxPathLength) return 'it is too long';
  if (path.includes('\0')) return 'it contains a NUL character';
  if (/\p{Surrogate}/u.test(path)) return 'it contains half of a surrogate pair';
  return platform === 'win32' ? oddOnWindows(path) : undefined;
}

const maxPathLength = 32_768;

function oddOnWindows(path: string): string | undefined {
  if (/^[\\/]{2}|^\\\?\?\\/.test(path)) return 'it names a network share or a device';
  if (path.indexOf(':', 2) !== -1) return 'it names an alternate data stream';
  const reserved = /(^|[\\/])(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)[ .]*(\.[^\\/]*)?([\\/]|$)/i;
  return reserved.test(path) ? 'it contains a name that Windows reserves for a device' : undefined;
}

/** The real path of something that exists. */
type Resolver = (path: string) => string | Promise<string>;

const existingPath: Resolver = async (path) => shownPath(await realpath(osPath(path), { encoding: 'buffer' }));

/**
 * Ten times faster, but blocks on a file system that does not respond, so it is for paths in the workspace only:
 * `npm run bench -- --only 'read a small file'`.
 */
const existingPathNow: Resolver = (path) => shownPath(realpathSync.native(osPath(path), { encoding: 'buffer' }));

const maxLinks = 40;

/** `realpath` for paths whose last components may not exist. A dangling symlink is followed to its target. */
async function realPathOf(path: string, existing = existingPath, links = 0): Promise<string> {
  try {
    return await existing(path);
  } catch (error) {
    // A path that cannot be resolved cannot be judged, so it is rejected.
    if (codeOf(error) !== 'ENOENT') throw readFailure(error, path);
  }
  const parent = dirname(path);
  if (parent === path) return path;
  const target = await linkTarget(path);
  if (target === undefined) return join(await realPathOf(parent, existing, links), basename(path));
  if (links > maxLinks) throw new ToolError('read_content_failure', `${path}: too many symbolic links.`);
  // The target is relative to the real directory of the symlink, not to the spelled one.
  return realPathOf(resolve(await realPathOf(parent, existing, links), target), existing, links + 1);
}

async function linkTarget(path: string): Promise<string | undefined> {
  try {
    if (!(await lstat(osPath(path))).isSymbolicLink()) return undefined;
    return shownPath(await readlink(osPath(path), { encoding: 'buffer' }));
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw readFailure(error, path);
  }
}
