import { randomBytes } from 'node:crypto';
import { open, readdir, readFile, rename, stat, unlink, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { allDone } from '../../async/all-done.js';
import { ToolError } from '../../contract/errors.js';
import { codeOf } from '../fs-error.js';
import { flush, type LatheHome } from '../lathe-home.js';
import { type KeepRule, outsideRule, type Removed } from '../retention/clean-files.js';
import { filesBelow } from '../retention/stored-files.js';
import { hashOf, writeAll } from '../write/file-snapshot.js';
import { toWriteError } from '../write/write-errors.js';

/** One change of one file, as the journal records it before it happens. */
export interface Change {
  id: string;
  /** The turn of the conversation it belongs to. */
  turn: string;
  /** ISO 8601. */
  time: string;
  tool: string;
  /** Real path. */
  path: string;
  /** Hashes of the content before and after; `null` for a file that was not there. */
  before: string | null;
  after: string;
  /** Directories that were made for a new file, outermost first. */
  madeDirectories?: readonly string[];
}

/** What to remove from the journal. */
export interface JournalCleaning {
  rule: KeepRule;
  /** Whether a running process works with this session. */
  isInUse: (session: string) => boolean;
  isDryRun?: boolean;
}

export interface JournalLimits {
  maxBytes?: number;
  maxChanges?: number;
}

/**
 * The contents of files before each change: `changes/` has one small file per change, `blobs/` the old contents by their
 * hash. A change is recorded durably before it happens, so it can be undone after a crash at any moment.
 * Bounded: the oldest changes are removed first. A counter gives the order, not the clock.
 */
export class Journal {
  readonly #home: LatheHome;
  readonly #limits: Required<JournalLimits>;
  #turn = randomBytes(8).toString('hex');

  constructor(home: LatheHome, { maxBytes = 512 << 20, maxChanges = 2000 }: JournalLimits = {}) {
    this.#home = home;
    this.#limits = { maxBytes, maxChanges };
  }

  /** Changes from now on belong to this turn. */
  beginTurn(turn: string): void {
    this.#turn = turn;
  }

  /** Records a change that is about to happen. `content` is what the file contains now. */
  async record(
    change: Pick<Change, 'tool' | 'path' | 'before' | 'after' | 'madeDirectories'>,
    content: Uint8Array | null,
  ): Promise<string> {
    try {
      const directory = await this.#home.directory('journal', 'changes');
      const entries = await entriesIn(directory);
      const id = [
        String((entries.at(-1)?.number ?? 0) + 1).padStart(12, '0'),
        content?.length ?? 0,
        change.before ?? 'new',
        randomBytes(4).toString('hex'),
      ].join('.');
      const time = new Date().toISOString();
      const entry = Buffer.from(JSON.stringify({ id, turn: this.#turn, time, ...change }));
      const kept = change.before !== null && content !== null ? this.#keep(change.before, content) : undefined;
      try {
        await allDone([createDurably(directory, id, entry), kept]);
      } catch (error) {
        await this.forget(id);
        throw error;
      }
      await this.#prune(entries);
      return id;
    } catch (cause) {
      const error = toWriteError(cause, `the undo journal in ${this.#home.path}`);
      if (!(error instanceof ToolError)) throw error;
      throw new ToolError(error.type, `Nothing was changed. ${error.message}`, { cause });
    }
  }

  /** Removes the record of a change that did not happen. */
  async forget(id: string): Promise<void> {
    await unlink(this.#home.file('journal', 'changes', id)).catch(() => {});
  }

  /** The newest changes first. */
  async list(limit = 100): Promise<Change[]> {
    const directory = this.#home.file('journal', 'changes');
    const newest = (await entriesIn(directory)).toReversed();
    const changes: Change[] = [];
    for (const { name } of newest) {
      if (changes.length >= limit) break;
      const change = await readChange(join(directory, name));
      if (change) changes.push(change);
    }
    return changes;
  }

  /** The content with this hash; `undefined` when it is no longer kept. */
  async contentOf(hash: string): Promise<Buffer | undefined> {
    const content = await readFile(this.#home.file('journal', 'blobs', hash)).catch(() => undefined);
    return content && (await hashOf([content])) === hash ? content : undefined;
  }

  async #keep(hash: string, content: Uint8Array): Promise<void> {
    const directory = await this.#home.directory('journal', 'blobs');
    try {
      // The new time keeps a process that is pruning from removing it.
      return await utimes(join(directory, hash), new Date(), new Date());
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error;
    }
    await createDurably(directory, hash, content);
  }

  /** Removes the changes that a rule does not keep, except those of sessions in use, and the contents nobody needs. */
  async clean({ rule, isInUse, isDryRun = false }: JournalCleaning): Promise<Removed> {
    const directory = this.#home.file('journal', 'changes');
    const dated = await Promise.all(
      (await entriesIn(directory)).map(async ({ name, size }) => {
        const path = join(directory, name);
        const modified = (await stat(path).catch(() => undefined))?.mtimeMs ?? 0;
        return { name, path, bytes: size, modified };
      }),
    );
    const removed: Removed = { files: 0, bytes: 0 };
    for (const { name, path, bytes } of outsideRule(dated, rule, () => false)) {
      if (isInUse((await readChange(path))?.turn.split('/')[0] ?? '')) continue;
      if (!isDryRun) await this.forget(name);
      removed.files += 1;
      removed.bytes += bytes;
    }
    if (!isDryRun) await this.#removeUnusedContents();
    return removed;
  }

  /** What is kept, as it lies on the disk. */
  async size(): Promise<Removed> {
    const files = await filesBelow(this.#home.file('journal'), 2);
    return { files: files.length, bytes: files.reduce((sum, { bytes }) => sum + bytes, 0) };
  }

  /** File names hold sizes and hashes, so one listing is enough. Removes a tenth more, so that it happens rarely. */
  async #prune(entries: readonly Entry[]): Promise<void> {
    let bytes = entries.reduce((sum, { size }) => sum + size, 0);
    const { maxBytes, maxChanges } = this.#limits;
    if (bytes <= maxBytes && entries.length < maxChanges) return;
    let count = 0;
    for (; bytes > maxBytes * 0.9 || entries.length - count > maxChanges * 0.9; count++)
      bytes -= entries[count]?.size ?? 0;
    for (const { name } of entries.slice(0, count)) await this.forget(name);
    await this.#removeUnusedContents();
  }

  async #removeUnusedContents(): Promise<void> {
    const kept = new Set((await entriesIn(this.#home.file('journal', 'changes'))).map(({ hash }) => hash));
    const blobs = this.#home.file('journal', 'blobs');
    for (const name of await readdir(blobs).catch(() => [])) {
      if (kept.has(name)) continue;
      const path = join(blobs, name);
      const touched = (await stat(path).catch(() => undefined))?.mtimeMs ?? 0;
      if (touched < Date.now() - graceMs) await unlink(path).catch(() => {});
    }
  }
}

/** Newer content may belong to a change that is being recorded right now. */
const graceMs = 60_000;

interface Entry {
  name: string;
  number: number;
  size: number;
  hash: string;
}

async function entriesIn(directory: string): Promise<Entry[]> {
  const names = await readdir(directory).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  });
  return names
    .filter((name) => /^\d{12}\./.test(name))
    .sort()
    .map((name) => {
      const [number, size, hash = ''] = name.split('.');
      return { name, number: Number(number), size: Number(size), hash };
    });
}

async function readChange(path: string): Promise<Change | undefined> {
  try {
    const change: unknown = JSON.parse(await readFile(path, 'utf8'));
    return isChange(change) ? change : undefined;
  } catch {
    // Pruned meanwhile, or damaged: it cannot be undone.
    return undefined;
  }
}

function isChange(value: unknown): value is Change {
  if (typeof value !== 'object' || value === null) return false;
  const fields = new Map(Object.entries(value));
  const isText = (name: string) => typeof fields.get(name) === 'string';
  const made: unknown = fields.get('madeDirectories') ?? [];
  return (
    ['id', 'turn', 'time', 'tool', 'path', 'after'].every(isText) &&
    (isText('before') || fields.get('before') === null) &&
    Array.isArray(made) &&
    made.every((path) => typeof path === 'string')
  );
}

/** Creates a private file completely or not at all. An existing one of the same name has the same content. */
async function createDurably(directory: string, name: string, content: Uint8Array): Promise<void> {
  const temp = join(directory, `tmp-${randomBytes(8).toString('hex')}`);
  try {
    const handle = await open(temp, 'wx', 0o600);
    try {
      await writeAll(handle, [content]);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temp, join(directory, name));
  } catch (error) {
    await unlink(temp).catch(() => {});
    throw error;
  }
  await flush(directory);
}
