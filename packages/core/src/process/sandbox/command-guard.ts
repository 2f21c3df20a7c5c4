import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type GitState, plantedIn, readGitState } from './git-check.js';
import { CoverWatch } from './held-mounts.js';
import { isNeutralChange } from './neutral-config.js';
import { isPlaceholder } from './placeholders.js';
import { bareNames } from './planted-repositories.js';
import { firstLink, type PutAside } from './put-aside.js';
import type { RestoredContents } from './restored-contents.js';
import { isGitAtWork, isSame, lstatOf, readSnapshot, type Snapshot, type Snapshots } from './snapshots.js';
import { compareWithCommit } from './tracked-file.js';

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
  /** What was there when the covers were lost: what the user wrote, unless the command was faster. */
  readonly #whenLost = new Map<string, Snapshot>();
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
    this.#watch.start((path) => {
      for (const lost of this.#watch.lost()) {
        const content = this.#before.has(lost) ? readSnapshot(lost) : undefined;
        if (content !== undefined) this.#whenLost.set(lost, content);
      }
      onLost(path);
    });
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
    let last = '';
    while (performance.now() < deadline) {
      const now = lost.map((path) => `${lstatOf(path)?.ctimeNs}`).join();
      if (now === last && !isGitAtWork(this.#places.roots)) return;
      last = now;
      await wait(settleStepMs);
    }
  }

  async #checkOne(path: string, known: Snapshot, attempts = maxJudgements): Promise<string[]> {
    // Whatever is beyond a symlink is not the workspace's.
    if (firstLink(dirname(path)) !== undefined) return [`${path} is reached by a symlink now.${this.#remove(path)}`];
    const seen = lstatOf(path);
    const before = this.#tools.restored.since(path, this.#startedAt) ?? known;
    // A symlink is the one thing that a command can remove itself. Without its configuration a repository is broken.
    if (seen === undefined && before.type !== 'link' && !isGitConfig(path)) return [];
    if (seen !== undefined && (await this.#isHarmless(path, before))) return [];
    const back = await this.#contentToPutBack(path, before);
    // Judged twice at least: a checkout may have been about to move HEAD. The user may write at any time.
    if (attempts === maxJudgements || (attempts > 0 && lstatOf(path)?.ctimeNs !== seen?.ctimeNs)) {
      await this.#settle([path]);
      return this.#checkOne(path, known, attempts - 1);
    }
    return this.#restore(path, before, back);
  }

  #restore(path: string, before: Snapshot, { content, text }: { content: Snapshot; text: string }): string[] {
    const { aside, restored } = this.#tools;
    if (content.type === 'other')
      return [`${path} was replaced while a command ran that could write to it.${this.#remove(path)}`];
    restored.note(path, content);
    const kept = this.#keepWhenLost(path, [before, content, readSnapshot(path)]);
    const places = [...kept, ...aside.replace(path, content)];
    const removed = places.length > 0 ? ` Removed: ${places.join(', then ')}.` : '';
    return [`${path} changed while a command ran that could write to it. ${text}${removed}`];
  }

  /** What a checkout wrote, if it was seen before the command overwrote it. */
  async #contentToPutBack(path: string, before: Snapshot): Promise<{ content: Snapshot; text: string }> {
    const later = this.#whenLost.get(path);
    if (later?.type === 'file' && before.type === 'file' && (await this.#compare(path, later.bytes)) === 'same')
      return { content: later, text: 'The content of the current commit is back.' };
    const isOlder = before.type === 'file' && (await this.#compare(path, before.bytes)) === 'different';
    const hint = isOlder ? ' The current commit has another content.' : '';
    return { content: before, text: `The content from before is back.${hint}` };
  }

  /** Keeps what was there when the cover was lost, unless that is kept anyway. Returns where it is. */
  #keepWhenLost(path: string, others: readonly (Snapshot | undefined)[]): string[] {
    const content = this.#whenLost.get(path);
    if (content?.type !== 'file' || others.some((other) => isSame(other, content))) return [];
    return [this.#tools.aside.keep(path, content)];
  }

  async #isHarmless(path: string, before: Snapshot): Promise<boolean> {
    const now = readSnapshot(path);
    if (isSame(now, before)) return true;
    const info = lstatOf(path);
    // Where a file or symlink was, an empty directory does harm: what programs look for is missing.
    if (info?.isDirectory() && before.type !== 'other' && readdirSync(path).length === 0) return false;
    if (info?.isDirectory()) return this.#isCommittedDirectory(path);
    if (!info?.isFile()) return false;
    if (!isGitConfig(path)) return this.#isCommitted(path);
    return (
      now?.type === 'file' &&
      before.type === 'file' &&
      isNeutralChange(before.bytes.toString('utf8'), now.bytes.toString('utf8'))
    );
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
    const bytes = bytesOf(path);
    return bytes !== undefined && (await this.#compare(path, bytes)) === 'same';
  }

  #compare(path: string, bytes: Buffer): ReturnType<typeof compareWithCommit> {
    return compareWithCommit(path, bytes, { roots: this.#places.roots, searchPath: this.#tools.searchPath });
  }

  /** Where there is no `.git`, git looks for a repository in the directory itself. */
  #checkBare({ git, before, wasBare }: GitBefore): string[] {
    const root = dirname(git);
    if (before.entries.size > 0 || wasBare || !isBare(root)) return [];
    return [`${root} became a git directory, which a command may not create.${this.#remove(join(root, 'HEAD'))}`];
  }

  #checkGit({ git, before }: GitBefore): string[] {
    // A file or link in the place of a repository leads git elsewhere.
    if (before.entries.size === 0 && !lstatOf(git)?.isDirectory()) {
      const isNew = lstatOf(git) !== undefined && !this.#before.has(git);
      return isNew ? [`${git} appeared, which leads git to another directory.${this.#remove(git)}`] : [];
    }
    // What a command added must not keep it from being checked.
    const after = readGitState(git, before.isPartial ? undefined : Number.POSITIVE_INFINITY);
    // What another command planted may have been removed since, and this one may have made it again.
    const isOld = ([path]: [string, unknown]) => !this.#tools.restored.wasRemovedSince(path, this.#startedAt);
    const planted = plantedIn(new Map([...before.entries].filter(isOld)), after.entries).map(
      (path) => `${path} appeared, which a command may not create, because git would use it.${this.#remove(path)}`,
    );
    const unchecked = `${git} has too many entries to check whether the command planted symlinks in it.`;
    return after.isPartial ? [...planted, unchecked] : planted;
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
  before: GitState;
  /** Whether the directory around it was a git directory itself. */
  wasBare: boolean;
}

function isBare(directory: string): boolean {
  return bareNames.every((name) => lstatOf(join(directory, name)) !== undefined);
}

const maxJudgements = 5;
const maxCheckedFiles = 100;
const maxSettleMs = 5_000;
const settleStepMs = 100;

function bytesOf(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}

function isGitConfig(path: string): boolean {
  return path.includes(`${sep}.git${sep}`) && /[/\\]config(?:\.worktree)?$/.test(path);
}
