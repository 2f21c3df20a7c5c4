import { EventEmitter, once } from 'node:events';
import { existsSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { secrecyOf } from '../files/access/protected-paths.js';
import { sensitivityOf } from '../files/access/sensitive-files.js';
import { isWithin, type Workspace } from '../files/workspace.js';
import type { ChangeCheck, ChangeChecks, CheckedChange } from '../tools/file-change-tool.js';
import { type LanguageSetting, languagesOf } from './known-languages.js';
import type { CheckResult, LanguageServer } from './language-server.js';
import { describeProblems, type Problem } from './problem.js';
import { ServerSlot, type ServerState, type SlotOptions } from './server-slot.js';

export interface LanguageServersOptions extends Omit<SlotOptions, 'idleMs'> {
  workspace: Pick<Workspace, 'roots' | 'root' | 'display'>;
  settings: Readonly<Record<string, LanguageSetting>>;
  /** How long a result waits for the problems of its change. */
  waitMs?: number;
  idleMs?: number;
}

/** One line of `lathe doctor`. */
export interface LanguageStatus {
  language: string;
  /** The program and its arguments; empty when none was found. */
  command: string;
  state: ServerState;
}

const usualWaitMs = 1_500;
const usualIdleMs = 600_000;
/** A server that was late so often is not waited for: what it finds comes with the next result. */
const patience = 3;
/** Checks that wait for one server. */
const maxWaiting = 8;

/** Problems of an earlier change that no result has named yet. */
interface Late {
  slot: ServerSlot;
  /** The file that was changed. */
  name: string;
  problems: Problem[];
}

/** The language servers of a workspace. Nothing runs before the first change of a file of a language. */
export class LanguageServers implements ChangeChecks {
  readonly #options: LanguageServersOptions;
  readonly #slots: readonly ServerSlot[];
  #late: Late[] = [];
  readonly #delays = new Map<ServerSlot, number>();
  readonly #reported = new Set<string>();

  constructor(options: LanguageServersOptions) {
    this.#options = options;
    const { idleMs = usualIdleMs } = options;
    this.#slots = languagesOf(options.settings).map((language) => new ServerSlot(language, { ...options, idleMs }));
  }

  begin(change: CheckedChange): ChangeCheck | undefined {
    const slot = this.#slotFor(change.path);
    if (slot === undefined) return undefined;
    if (!slot.canServe(change.path)) return this.#failureOf(slot);
    if (slot.waiting >= maxWaiting) return saying(`Not checked: the ${slot.language.name} server is too slow.`);
    const { written, settle } = pendingWrite();
    const work = slot.use(change.path, (server) => server.check(change, written));
    work.catch(() => undefined);
    return {
      report: async (signal) => {
        settle(true);
        return this.#report(slot, change, work, signal);
      },
      cancel: () => settle(false),
    };
  }

  /** Whether a server is there for a language of the project. */
  isAvailable(): boolean {
    return this.#projectSlots().some((slot) => slot.canServe(this.#options.workspace.root));
  }

  /** Does something with the server of a file; `undefined` when there is none. */
  use<T>(path: string, work: (server: LanguageServer) => Promise<T>): Promise<T> | undefined {
    const slot = this.#slotFor(path);
    return slot?.canServe(path) ? slot.use(path, work) : undefined;
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

  display(path: string): string {
    return this.#options.workspace.display(path);
  }

  /** The servers for the languages of the project; starts those that were found. */
  async status(): Promise<LanguageStatus[]> {
    const { root } = this.#options.workspace;
    return Promise.all(
      this.#projectSlots().map(async (slot) => {
        const search = slot.find(root);
        if ('found' in search) await slot.use(root, async () => undefined).catch(() => undefined);
        const command = 'found' in search ? search.found.argv.join(' ') : '';
        return { language: slot.language.name, command, state: slot.state };
      }),
    );
  }

  async close(): Promise<void> {
    await Promise.all(this.#slots.map((slot) => slot.close()));
  }

  #slotFor(path: string): ServerSlot | undefined {
    if (!this.isInside(path)) return undefined;
    return this.#slots.find(({ language }) => Object.hasOwn(language.extensions, extname(path)));
  }

  /** Those of the languages that files in the roots say the project is written in. */
  #projectSlots(): ServerSlot[] {
    const { roots } = this.#options.workspace;
    const isThere = (name: string) => roots.some((root) => existsSync(join(root, name)));
    return this.#slots.filter(({ language }) => language.markers.some(isThere));
  }

  async #report(
    slot: ServerSlot,
    { path }: CheckedChange,
    work: Promise<CheckResult>,
    signal: AbortSignal,
  ): Promise<string> {
    const { name } = slot.language;
    const delays = this.#delays.get(slot) ?? 0;
    const outcome = await within(work, delays < patience ? (this.#options.waitMs ?? usualWaitMs) : 0, signal);
    if (outcome.status === 'failed') return this.#failure(slot, outcome.reason);
    if (outcome.status === 'late') {
      this.#delays.set(slot, delays + 1);
      void work.then((result) => this.#keep(slot, path, result)).catch(() => undefined);
      return `Not checked yet: the ${name} server is still at work; the result of the next change will say.`;
    }
    this.#delays.delete(slot);
    const late = this.#takeLate(slot, outcome.result);
    const lines = late.flatMap((each) =>
      this.#describe(`New problems since the earlier change of ${each.name}`, each.problems),
    );
    return [...lines, ...this.#describe('New problems', outcome.result.found)].join('\n');
  }

  #keep(slot: ServerSlot, path: string, { found }: CheckResult): void {
    this.#delays.delete(slot);
    if (found.length > 0) this.#late.push({ slot, name: this.display(path), problems: found });
  }

  /** The problems that nobody has heard of yet, without those that are gone by now. */
  #takeLate(slot: ServerSlot, { found, now }: CheckResult): Late[] {
    const due = this.#late.filter((each) => each.slot === slot);
    this.#late = this.#late.filter((each) => each.slot !== slot);
    return due.map((each) => ({
      ...each,
      problems: each.problems.flatMap((problem) => {
        const isSame = ({ code, message }: Problem) => code === problem.code && message === problem.message;
        return now.get(problem.path)?.find((other) => isSame(other) && !found.includes(other)) ?? [];
      }),
    }));
  }

  #describe(title: string, problems: readonly Problem[]): string[] {
    return describeProblems(title, problems, (path) => this.#options.workspace.display(path));
  }

  /** A server that does not start, or is given a pause after a failure: named once, with the reason. */
  #failureOf(slot: ServerSlot): ChangeCheck | undefined {
    const { state } = slot;
    if (state.status !== 'failed') return undefined;
    return saying(this.#failure(slot, state.reason));
  }

  #failure({ language: { name } }: ServerSlot, reason: string): string {
    if (this.#reported.has(name)) return '';
    this.#reported.add(name);
    return `Not checked: the ${name} server failed (${reason.slice(0, 200)}).`;
  }
}

function saying(text: string): ChangeCheck | undefined {
  return text === '' ? undefined : { report: async () => text, cancel: () => {} };
}

type Outcome = { status: 'done'; result: CheckResult } | { status: 'failed'; reason: string } | { status: 'late' };

/** Settles when the file is written, or with false when it is not. */
function pendingWrite() {
  const events = new EventEmitter();
  const written = once(events, 'settled').then(([isWritten]) => isWritten === true);
  return { written, settle: (isWritten: boolean) => void events.emit('settled', isWritten) };
}

async function within(work: Promise<CheckResult>, ms: number, signal: AbortSignal): Promise<Outcome> {
  const pause = new AbortController();
  const late = wait(ms, undefined, { signal: AbortSignal.any([signal, pause.signal]) }).catch(() => undefined);
  const outcome = await Promise.race<Outcome>([
    work.then(
      (result) => ({ status: 'done', result }),
      (error: unknown) => ({ status: 'failed', reason: error instanceof Error ? error.message : String(error) }),
    ),
    late.then(() => ({ status: 'late' })),
  ]);
  pause.abort();
  return outcome;
}
