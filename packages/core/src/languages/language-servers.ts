import { existsSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { thrownText } from '../contract/errors.js';
import { secrecyOf, sensitivityOf } from '../files/access/protected-paths.js';
import { mayShowLink } from '../files/access/visibility.js';
import { isWithin, type Workspace } from '../files/workspace.js';
import { visibleText } from '../text/visible-text.js';
import type { ChangeCheck, ChangeChecks, CheckedChange } from '../tools/file-change-tool.js';
import { type LanguageSetting, languageIdOf, languagesOf } from './known-languages.js';
import type { CheckResult, LanguageServer } from './language-server.js';
import { describeProblems, type Problem } from './problem.js';
import { ServerSlot, type SlotOptions } from './server-slot.js';

export interface LanguageServersOptions extends SlotOptions {
  workspace: Pick<Workspace, 'roots' | 'root' | 'display'>;
  settings: Readonly<Record<string, LanguageSetting>>;
  /** How long a result waits for the problems of its change. */
  waitMs?: number;
}

/** One line of `lathe doctor`; `command` is the program with its arguments. */
export type LanguageStatus = { language: string } & (
  | { status: 'missing'; reason: string }
  | { status: 'failed'; command: string; reason: string }
  | { status: 'ready'; command: string; startMs: number }
);

const usualWaitMs = 1_500;
/** A server with more unfinished checks than this is not waited for: what it finds comes with the next result. */
const patience = 3;

/** The language servers of a workspace. Nothing runs before the first change of a file of a language. */
export class LanguageServers implements ChangeChecks {
  readonly #options: LanguageServersOptions;
  readonly #slots: readonly ServerSlot[];
  /** Languages whose failure was named. */
  readonly #named = new Set<string>();

  constructor(options: LanguageServersOptions) {
    this.#options = options;
    this.#slots = languagesOf(options.settings).map((language) => new ServerSlot(language, options));
  }

  begin(change: CheckedChange): ChangeCheck | undefined {
    const slot = this.#slotFor(change.path);
    if (slot === undefined) return undefined;
    let settle: ((isWritten: boolean) => void) | undefined;
    const written = new Promise<boolean>((resolve) => (settle = resolve));
    const work = slot.use(change.path, (server) => server.check(change, written));
    work.catch(() => undefined);
    return {
      report: (signal) => {
        settle?.(true);
        return this.#report(slot, work, signal);
      },
      cancel: () => settle?.(false),
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
    if (real === undefined || !this.isInside(real) || !mayShowLink(path, this.#options.visibility)) return undefined;
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
          return { language, status: 'failed', command, reason: thrownText(error) };
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
    const isThere = (name: string) => this.#options.places.roots.some((root) => existsSync(join(root, name)));
    return this.#slots.filter(({ language }) => language.markers.some(isThere));
  }

  async #report(slot: ServerSlot, work: Promise<CheckResult>, signal: AbortSignal): Promise<string> {
    const { name } = slot.language;
    const waitMs = slot.waiting > patience ? 0 : (this.#options.waitMs ?? usualWaitMs);
    try {
      const result = await within(work, waitMs, signal);
      if (result === undefined) {
        slot.late.push(work);
        return `Not checked yet: the ${name} server is still at work. In this session, the result of the next change names what it finds.`;
      }
      this.#named.delete(name);
      const late = await Promise.all(slot.late.splice(0).map((each) => each.catch(() => undefined)));
      const earlier = late.flatMap((each) => each?.found ?? []);
      const problems = [...result.found, ...stillThere(earlier, result)];
      return describeProblems(problems, (path) => this.display(path));
    } catch (error) {
      if (this.#named.has(name)) return '';
      this.#named.add(name);
      return `Not checked: the ${name} server failed (${thrownText(error).slice(0, 200)}).`;
    }
  }
}

/** Those of earlier problems that are not gone by now, where they are now. */
function stillThere(earlier: readonly Problem[], { found, now }: CheckResult): Problem[] {
  return earlier.flatMap(({ path, code, message }) => {
    const isSame = (other: Problem) => other.code === code && other.message === message && !found.includes(other);
    return now.get(path)?.find(isSame) ?? [];
  });
}

/** What the work results in, or `undefined` when it takes longer. */
function within<T>(work: Promise<T>, ms: number, signal: AbortSignal): Promise<T | undefined> {
  const pause = new AbortController();
  const late = wait(ms, undefined, { signal: AbortSignal.any([signal, pause.signal]) }).catch(() => undefined);
  return Promise.race([work, late]).finally(() => pause.abort());
}
