import { stat, utimes, writeFile } from 'node:fs/promises';
import type { LatheHome } from '../files/lathe-home.js';
import { auditSize, cleanAudit } from '../files/retention/clean-audit.js';
import { cleanFiles, type KeepRule, type Removed } from '../files/retention/clean-files.js';
import { NamesInUse } from '../files/retention/names-in-use.js';
import { type FileKind, storedFiles } from '../files/retention/stored-files.js';
import { Journal } from '../files/undo/journal.js';
import { FileLocks } from '../files/write/file-lock.js';
import type { Settings } from '../settings/keys.js';

/** What Lathe keeps of earlier work. */
export const stateKinds = ['sessions', 'views', 'spill', 'journal', 'audit'] as const;
/** One of them. */
export type StateKind = (typeof stateKinds)[number];

/** Files and bytes of one kind: how much there is, or how much was removed. */
export interface StateSize extends Removed {
  kind: StateKind;
}

export interface CleanRequest {
  /** Default: by the settings. */
  rule?: KeepRule;
  kinds?: readonly StateKind[];
  isDryRun?: boolean;
}

const dayMs = 86_400_000;
/** The first prompt comes first. */
const delayMs = 30_000;

/** Decides how long Lathe's own files are kept, and removes the others, in one process at a time. */
export class Retention {
  readonly journal: Journal;
  readonly #home: LatheHome;
  readonly #limits: Settings['retention'];

  constructor(home: LatheHome, limits: Settings['retention']) {
    this.#home = home;
    this.#limits = limits;
    this.journal = new Journal(home, { maxBytes: this.rule.maxBytes });
  }

  /** What the settings keep, counted from now. */
  get rule(): KeepRule {
    const { days, megabytes } = this.#limits;
    return {
      since: days < 0 ? Number.NEGATIVE_INFINITY : Date.now() - days * dayMs,
      maxBytes: megabytes < 0 ? Number.POSITIVE_INFINITY : megabytes * 1024 * 1024,
    };
  }

  async sizes(): Promise<StateSize[]> {
    return Promise.all(stateKinds.map(async (kind) => ({ kind, ...(await this.#sizeOf(kind)) })));
  }

  /** Removes what the rule does not keep. What a running session uses always stays. */
  async clean(
    { rule = this.rule, kinds = stateKinds, isDryRun = false }: CleanRequest,
    signal: AbortSignal,
  ): Promise<StateSize[]> {
    return new FileLocks(this.#home).hold(this.#home.file('cleaned'), signal, async () => {
      const removed: StateSize[] = [];
      for (const kind of kinds) {
        signal.throwIfAborted();
        removed.push({ kind, ...(await this.#clean(kind, rule, isDryRun)) });
      }
      return removed;
    });
  }

  /** Cleans up in the background if no process has done so for a day. Abort the result to stop it. */
  cleanLater(ms = delayMs): AbortController {
    const controller = new AbortController();
    const timer = setTimeout(() => {
      this.cleanDaily(controller.signal).catch(() => undefined);
    }, ms);
    timer.unref();
    controller.signal.addEventListener('abort', () => clearTimeout(timer));
    return controller;
  }

  /** Cleans up if that has not happened for a day; returns whether it did. */
  async cleanDaily(signal: AbortSignal): Promise<boolean> {
    const stamp = this.#home.file('cleaned');
    const last = await stat(stamp).catch(() => undefined);
    // Without a home directory there is nothing to remove, and none is made for this.
    if ((last && Date.now() - last.mtimeMs < dayMs) || !(await stat(this.#home.path).catch(() => undefined)))
      return false;
    // Before the work, so that other processes that start now leave it to this one.
    await writeFile(stamp, '', { mode: 0o600 });
    await utimes(stamp, new Date(), new Date());
    await this.clean({}, signal);
    return true;
  }

  async #sizeOf(kind: StateKind): Promise<Removed> {
    if (kind === 'journal') return this.journal.size();
    if (kind === 'audit') return auditSize(this.#home);
    const files = await storedFiles(this.#home, kind);
    return { files: files.length, bytes: files.reduce((sum, { bytes }) => sum + bytes, 0) };
  }

  async #clean(kind: StateKind, rule: KeepRule, isDryRun: boolean): Promise<Removed> {
    const live = await new NamesInUse(this.#home).list();
    if (kind === 'journal') return this.journal.clean({ rule, isInUse: (session) => live.has(session), isDryRun });
    if (kind === 'audit') return cleanAudit(this.#home, rule, isDryRun);
    return this.#cleanFiles(kind, rule, { live, isDryRun });
  }

  async #cleanFiles(kind: FileKind, rule: KeepRule, { live, isDryRun }: { live: Set<string>; isDryRun: boolean }) {
    const files = await storedFiles(this.#home, kind);
    return cleanFiles(files, { rule, isDryRun, isInUse: ({ owner }) => owner !== undefined && live.has(owner) });
  }
}
