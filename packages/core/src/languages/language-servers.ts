import { existsSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { secrecyOf } from '../files/access/protected-paths.js';
import { sensitivityOf } from '../files/access/sensitive-files.js';
import { isWithin, type Workspace } from '../files/workspace.js';
import { visibleText } from '../text/visible-text.js';
import type { ChangeCheck, ChangeChecks, CheckedChange } from '../tools/file-change-tool.js';
import { type LanguageSetting, languageIdOf, languagesOf } from './known-languages.js';
import type { CheckResult, LanguageServer } from './language-server.js';
import { describeProblems, type Problem } from './problem.js';
import { ServerSlot, type SlotOptions } from './server-slot.js';

export interface LanguageServersOptions extends Omit<SlotOptions, 'idleMs'> {
  workspace: Pick<Workspace, 'roots' | 'root' | 'display'>;
  settings: Readonly<Record<string, LanguageSetting>>;
  /** How long a result waits for the problems of its change. */
  waitMs?: number;
  idleMs?: number;
}

/** One line of `lathe doctor`; `command` is the program with its arguments. */
export type LanguageStatus = { language: string } & (
  | { status: 'missing'; reason: string }
  | { status: 'failed'; command: string; reason: string }
  | { status: 'ready'; command: string; startMs: number }
);

const usualWaitMs = 1_500;
const usualIdleMs = 600_000;
/** A server with more unfinished checks than this is not waited for: what it finds comes with the next result. */
const patience = 3;
/** Checks that wait for one server. */
const maxWaiting = 8;

/** A check that was not done in time, and whose problems no result has named yet. */
interface LateCheck {
  slot: ServerSlot;
  path: string;
  work: Promise<CheckResult>;
}

/** The language servers of a workspace. Nothing runs before the first change of a file of a language. */
export class LanguageServers implements ChangeChecks {
  readonly #options: LanguageServersOptions;
  readonly #slots: readonly ServerSlot[];
  #late: LateCheck[] = [];
  /** Languages whose failure was named. */
  readonly #named = new Set<string>();

  constructor(options: LanguageServersOptions) {
    this.#options = options;
    const { idleMs = usualIdleMs } = options;
    this.#slots = languagesOf(options.settings).map((language) => new ServerSlot(language, { ...options, idleMs }));
  }

  begin(change: CheckedChange): ChangeCheck | undefined {
    const { path } = change;
    const slot = this.#slotFor(path);
    if (slot === undefined) return undefined;
    if (slot.waiting >= maxWaiting) {
      const text = `Not checked: the ${slot.language.name} server is too slow.`;
      return { report: async () => text, cancel: () => {} };
    }
    const writing: { settle?: (isWritten: boolean) => void } = {};
    const written = new Promise<boolean>((resolve) => {
      writing.settle = resolve;
    });
    const work = slot.use(path, (server) => server.check(change, written));
    work.catch(() => undefined);
    return {
      report: (signal) => {
        writing.settle?.(true);
        return this.#report({ slot, path, work }, signal);
      },
      cancel: () => writing.settle?.(false),
    };
  }

  /** Whether a server is there for a language of the project. */
  isAvailable(): boolean {
    return this.#projectSlots().some((slot) => 'found' in slot.find(this.#options.workspace.root));
  }

  /** Does something with the server of a file; `undefined` when there is none. */
  use<T>(path: string, work: (server: LanguageServer) => Promise<T>): Promise<T> | undefined {
    return this.#slotFor(path)?.use(path, work);
  }

  /** Whether a file belongs to the workspace, so that its place may be named. */
  isInside(path: string): boolean {
    return this.#options.workspace.roots.some((root) => isWithin(root, path));
  }

  /** The real path of a file whose lines may be shown: it is in the workspace, holds no secrets, and no rule denies it. */
  async showable(path: string): Promise<string | undefined> {
    const real = await realpath(path).catch(() => undefined);
    if (real === undefined || !this.isInside(real)) return undefined;
    const { canRead } = this.#options.visibility;
    if (canRead?.(path) === false || canRead?.(real) === false) return undefined;
    return secrecyOf(real) === undefined && sensitivityOf(real) === undefined ? real : undefined;
  }

  /** How a path is shown, on one line whatever is in it. */
  display(path: string): string {
    return visibleText(this.#options.workspace.display(path)).replaceAll('\n', ' ');
  }

  /** The servers for the languages of the project; starts those that were found. */
  async status(): Promise<LanguageStatus[]> {
    const { root } = this.#options.workspace;
    return Promise.all(
      this.#projectSlots().map(async (slot): Promise<LanguageStatus> => {
        const language = slot.language.name;
        const search = slot.find(root);
        if ('missing' in search) return { language, status: 'missing', reason: search.missing };
        const command = search.found.argv.join(' ');
        const begin = performance.now();
        try {
          await slot.use(root, async () => undefined);
          return { language, status: 'ready', command, startMs: Math.round(performance.now() - begin) };
        } catch (error) {
          return { language, status: 'failed', command, reason: messageOf(error) };
        }
      }),
    );
  }

  async close(): Promise<void> {
    await Promise.all(this.#slots.map((slot) => slot.close()));
  }

  /** The slot of a file of the workspace, if a server is installed for it. */
  #slotFor(path: string): ServerSlot | undefined {
    if (!this.isInside(path)) return undefined;
    const slot = this.#slots.find(({ language }) => languageIdOf(language, path) !== undefined);
    return slot && 'found' in slot.find(path) ? slot : undefined;
  }

  /** Those of the languages that files in the roots say the project is written in. */
  #projectSlots(): ServerSlot[] {
    const { roots } = this.#options.workspace;
    const isThere = (name: string) => roots.some((root) => existsSync(join(root, name)));
    return this.#slots.filter(({ language }) => language.markers.some(isThere));
  }

  async #report(check: LateCheck, signal: AbortSignal): Promise<string> {
    const { slot, work } = check;
    const { name } = slot.language;
    const { waitMs = usualWaitMs } = this.#options;
    try {
      const result = await within(work, slot.waiting > patience ? 0 : waitMs, signal);
      if (result === undefined) {
        this.#late.push(check);
        return `Not checked yet: the ${name} server is still at work; the result of the next change will say.`;
      }
      this.#named.delete(name);
      return [...(await this.#describeLate(slot, result)), ...this.#describe('New problems', result.found)].join('\n');
    } catch (error) {
      if (this.#named.has(name)) return '';
      this.#named.add(name);
      return `Not checked: the ${name} server failed (${messageOf(error).slice(0, 200)}).`;
    }
  }

  /** The problems of earlier changes that nobody has heard of yet, without those that are gone by now. */
  async #describeLate(slot: ServerSlot, { found, now }: CheckResult): Promise<string[]> {
    const due = this.#late.filter((check) => check.slot === slot);
    this.#late = this.#late.filter((check) => check.slot !== slot);
    const lines: string[] = [];
    for (const { path, work } of due) {
      // Done, because checks of one server happen one after another; a failed one was followed by a pause.
      const earlier = await work.catch(() => undefined);
      const left = earlier?.found.flatMap(({ path: file, code, message }): Problem[] => {
        const isSame = (problem: Problem) => problem.code === code && problem.message === message;
        return (
          now
            .get(file)
            ?.filter((problem) => isSame(problem) && !found.includes(problem))
            .slice(0, 1) ?? []
        );
      });
      lines.push(...this.#describe(`New problems since the earlier change of ${this.display(path)}`, left ?? []));
    }
    return lines;
  }

  #describe(title: string, problems: readonly Problem[]): string[] {
    return describeProblems(title, problems, (path) => this.display(path));
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** What the work results in, or `undefined` when it takes longer. */
async function within<T>(work: Promise<T>, ms: number, signal: AbortSignal): Promise<T | undefined> {
  const pause = new AbortController();
  const late = wait(ms, undefined, { signal: AbortSignal.any([signal, pause.signal]) }).catch(() => undefined);
  try {
    return await Promise.race([work, late]);
  } finally {
    pause.abort();
  }
}
