import { existsSync, type FSWatcher, lstatSync, readdirSync, rmSync, watch } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { plantedIn, readGitState } from './git-check.js';
import { isNeutralChange } from './neutral-config.js';
import { isPlaceholder } from './placeholders.js';
import { bareNames } from './planted-repositories.js';
import { firstLink, type PutAside } from './put-aside.js';
import type { RestoredContents } from './restored-contents.js';
import { isUnchanged, lstatOf, putBack, type Snapshot, type Snapshots } from './snapshots.js';
import { isCommitted } from './tracked-file.js';

export interface GuardedPlaces {
  roots: readonly string[];
  /** Every name that a mount covers and that another process could uncover. */
  covers: readonly string[];
  /** Protected names that exist. */
  fixed: readonly string[];
  /** Protected names that are placeholders while the command runs. */
  reserved: readonly string[];
  /** Names that must not appear. */
  forbidden: readonly string[];
  /** Git directories of the workspace in which the command can write; some do not exist. */
  gits: readonly string[];
}

export interface GuardTools {
  snapshots: Snapshots;
  aside: PutAside;
  restored: RestoredContents;
  /** Where to find git. */
  searchPath: string;
}

/**
 * Guards what a command must not change where mounts alone cannot: watches the covers while it runs, and checks the
 * protected names and the git directories when it is over.
 *
 * A change made while the cover was there is the user's, for the command could not make it. Once a cover is lost nobody
 * can tell who wrote what is there now, so it stays only if it cannot do harm: the same content as before, content of the
 * current commit, or a neutral change of git's configuration. Anything else is put aside, and the result says where.
 */
export class CommandGuard {
  readonly #places: GuardedPlaces;
  readonly #tools: GuardTools;
  readonly #watch: CoverWatch;
  readonly #before: ReadonlyMap<string, Snapshot>;
  readonly #startedAt = Date.now();
  readonly #git: readonly GitBefore[];

  /** Call it when the placeholders exist and the command has not started. */
  constructor(places: GuardedPlaces, tools: GuardTools) {
    this.#places = places;
    this.#tools = tools;
    this.#watch = new CoverWatch(places.covers);
    this.#before = tools.snapshots.take(places.fixed);
    this.#git = places.gits.map((git) => ({ git, before: readGitState(git), wasBare: isBare(dirname(git)) }));
  }

  /** Calls `onLost` as soon as a name is no longer covered. */
  start(onLost: (path: string) => void): void {
    this.#watch.start(onLost);
  }

  /** Call it when the command and its children are gone. Returns what was found, as sentences for the user. */
  async check(): Promise<string[]> {
    this.#watch.close();
    const found: string[] = [];
    const lost = new Set(this.#watch.lost());
    if (lost.size > 0) await this.#settle([...lost]);
    for (const [path, before] of this.#before) if (lost.has(path)) found.push(...(await this.#checkOne(path, before)));
    for (const path of this.#places.reserved)
      if (lost.has(path) && lstatOf(path) !== undefined && !isPlaceholder(path))
        found.push(...(await this.#checkOne(path, { type: 'other' })));
    for (const path of this.#places.forbidden)
      if (lstatOf(path) !== undefined)
        found.push(`${path} appeared, which no command may create.${this.#remove(path)}`);
    for (const git of this.#git) found.push(...this.#checkBare(git), ...this.#checkGit(git));
    return found;
  }

  /** Waits until the program that replaced the names is done: a checkout writes its files before it moves HEAD. */
  async #settle(lost: readonly string[]): Promise<void> {
    const deadline = performance.now() + maxSettleMs;
    const locks = this.#places.roots.flatMap((root) => gitLocks.map((name) => join(root, '.git', name)));
    let last = '';
    while (performance.now() < deadline) {
      const now = lost.map((path) => `${lstatOf(path)?.ctimeNs}`).join();
      if (now === last && !locks.some((path) => existsSync(path))) return;
      last = now;
      await wait(settleStepMs);
    }
  }

  async #checkOne(path: string, before: Snapshot): Promise<string[]> {
    // Whatever is beyond a symlink is not the workspace's.
    const isOwn = firstLink(dirname(path)) === undefined;
    return isOwn ? this.#checkLost(path, before) : [`${path} is reached by a symlink now.${this.#remove(path)}`];
  }

  async #checkLost(path: string, known: Snapshot, attempts = 5): Promise<string[]> {
    const seen = lstatOf(path);
    const before = this.#tools.restored.since(path, this.#startedAt) ?? known;
    // A symlink is the one thing that a command can remove itself. Without its configuration a repository is broken.
    if (seen === undefined && before.type !== 'link' && !isGitConfig(path)) return [];
    if (seen !== undefined && (await this.#isHarmless(path, before))) return [];
    // Judging takes a while, in which the user may have written again.
    if (lstatOf(path)?.ctimeNs !== seen?.ctimeNs && attempts > 0) return this.#checkLost(path, known, attempts - 1);
    if (before.type === 'other')
      return [`${path} was replaced while a command ran that could write to it.${this.#remove(path)}`];
    this.#tools.restored.note(path, before);
    const change = `${path} changed while a command ran that could write to it. The content from before is back.`;
    if (seen !== undefined) return [`${change} Removed: ${this.#tools.aside.replace(path, before)}.`];
    putBack(path, before);
    return [change];
  }

  async #isHarmless(path: string, before: Snapshot): Promise<boolean> {
    if (isUnchanged(path, before)) return true;
    const info = lstatOf(path);
    if (info?.isDirectory()) return this.#isCommittedDirectory(path);
    if (!info?.isFile()) return false;
    if (isGitConfig(path)) {
      const now = this.#tools.snapshots.take([path]).get(path);
      return (
        now?.type === 'file' &&
        before.type === 'file' &&
        isNeutralChange(before.bytes.toString('utf8'), now.bytes.toString('utf8'))
      );
    }
    return this.#isCommitted(path);
  }

  async #isCommittedDirectory(path: string): Promise<boolean> {
    const entries = readdirSync(path, { withFileTypes: true, recursive: true });
    if (entries.length > maxCheckedFiles) return false;
    for (const entry of entries) {
      if (entry.isDirectory()) continue;
      if (!entry.isFile() || !(await this.#isCommitted(join(entry.parentPath, entry.name)))) return false;
    }
    return true;
  }

  async #isCommitted(path: string): Promise<boolean> {
    return isCommitted(path, { roots: this.#places.roots, searchPath: this.#tools.searchPath });
  }

  /** Where there is no `.git`, git looks for a repository in the directory itself. */
  #checkBare({ git, before, wasBare }: GitBefore): string[] {
    const root = dirname(git);
    if (before?.size !== 0 || wasBare || !isBare(root)) return [];
    return [`${root} became a git directory, which a command may not create.${this.#remove(join(root, 'HEAD'))}`];
  }

  #checkGit({ git, before }: GitBefore): string[] {
    // A file or link in the place of a repository leads git elsewhere.
    if (before?.size === 0 && !lstatOf(git)?.isDirectory()) {
      const isNew = lstatOf(git) !== undefined && !this.#before.has(git);
      return isNew ? [`${git} appeared, which leads git to another directory.${this.#remove(git)}`] : [];
    }
    const after = readGitState(git);
    if (before === undefined || after === undefined)
      return [`${git} has too many entries to check whether the command planted something in it.`];
    // What another command planted may have been removed since, and this one may have made it again.
    const isOld = ([path]: [string, unknown]) => !this.#tools.restored.wasRemovedSince(path, this.#startedAt);
    return plantedIn(new Map([...before].filter(isOld)), after).map(
      (path) => `${path} appeared, which a command may not create, because git would use it.${this.#remove(path)}`,
    );
  }

  /** Returns where it went, as a sentence to append. */
  #remove(path: string): string {
    const { restored, aside } = this.#tools;
    try {
      // Before, for commands that lose their cover by it. Again afterwards, for those that started in between.
      restored.note(path);
      const place = aside.take(path);
      restored.note(path);
      return ` Removed: ${place}.`;
    } catch (error) {
      rmSync(path, { recursive: true, force: true });
      return ` Removed without a copy (${error instanceof Error ? error.message : String(error)}).`;
    }
  }
}

interface GitBefore {
  git: string;
  before: ReturnType<typeof readGitState>;
  /** Whether the directory around it was a git directory itself. */
  wasBare: boolean;
}

function isBare(directory: string): boolean {
  return bareNames.every((name) => lstatOf(join(directory, name)) !== undefined);
}

const maxCheckedFiles = 100;
const maxSettleMs = 5_000;
const settleStepMs = 100;
const gitLocks = ['index.lock', 'HEAD.lock', 'config.lock'];

function isGitConfig(path: string): boolean {
  return path.includes(`${sep}.git${sep}`) && /[/\\]config(?:\.worktree)?$/.test(path);
}

/** Catches what the events of a busy directory leave out. */
const checkMs = 1_000;

/**
 * Watches the names that mounts cover in the sandbox. When a process outside of it renames or removes such a name, or
 * puts another file in its place, the kernel removes the cover there too, and the command can change the name.
 */
export class CoverWatch {
  readonly #covers: readonly { path: string; identity: string | undefined }[];
  readonly #watchers: FSWatcher[] = [];
  #timer: NodeJS.Timeout | undefined;

  /** Call it before the sandbox starts. */
  constructor(paths: readonly string[]) {
    this.#covers = paths.map((path) => ({ path, identity: identityOf(path) }));
  }

  /** Calls `onLost` once, with the first name that is no longer covered. */
  start(onLost: (path: string) => void): void {
    const check = () => {
      const [path] = this.lost();
      if (path === undefined) return;
      this.close();
      onLost(path);
    };
    const names = new Set(this.#covers.map(({ path }) => basename(path)));
    for (const directory of new Set(this.#covers.map(({ path }) => dirname(path))))
      this.#watch(directory, (name) => {
        if (name === null || names.has(name)) check();
      });
    this.#timer = setInterval(check, checkMs).unref();
    // What happened since the identities were read has no event.
    check();
  }

  /** The names that are not what they were when the sandbox was planned. */
  lost(): string[] {
    return this.#covers.filter(({ path, identity }) => identityOf(path) !== identity).map(({ path }) => path);
  }

  close(): void {
    clearInterval(this.#timer);
    for (const watcher of this.#watchers.splice(0)) watcher.close();
  }

  /** Where the system allows no more watches, the timer has to do. */
  #watch(directory: string, onEvent: (name: string | null) => void): void {
    try {
      const watcher = watch(directory, { persistent: false }, (_, name) => onEvent(name));
      this.#watchers.push(watcher.on('error', () => undefined));
    } catch {
      return;
    }
  }
}

function identityOf(path: string): string | undefined {
  try {
    const info = lstatSync(path, { bigint: true, throwIfNoEntry: false });
    // File systems give the number of a removed inode to the next one; the time of birth tells them apart.
    return info && `${info.dev}:${info.ino}:${info.birthtimeNs}`;
  } catch {
    return undefined;
  }
}
