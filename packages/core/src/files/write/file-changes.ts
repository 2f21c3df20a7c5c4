import { fstat } from 'node:fs';
import { promisify } from 'node:util';
import { ToolError } from '../../contract/errors.js';
import type { SeenFiles } from '../access/seen-files.js';
import type { ReadableFile } from '../open-file.js';
import type { Change, Journal } from '../undo/journal.js';
import { type ChangeParts, type UndoOutcome, undoChange } from '../undo/undo.js';
import { isWithin } from '../workspace.js';
import { type DurableWrite, writeDurably } from './durable-write.js';
import type { Snapshot } from './file-snapshot.js';
import {
  assertUnchanged,
  changedSince,
  chunksOf,
  hashOf,
  readContent,
  snapshotOf,
  withFileIfAny,
} from './file-snapshot.js';

export interface ChangeRequest {
  /** Real, judged path. */
  path: string;
  tool: string;
  signal: AbortSignal;
  /** The hash of what a person saw when saying yes (`null`: no file). A different content now is a conflict. */
  approved?: string | null;
  /**
   * Decides on the new content, looking at what is on disk at this moment; `undefined` leaves the file alone. Throws
   * to refuse.
   */
  decide: (current: Snapshot | null) => Promise<readonly Uint8Array[] | undefined>;
}

interface Write {
  file: ReadableFile | null;
  current: Snapshot | null;
  pieces: readonly Uint8Array[];
  token: string;
}

/**
 * The only way to change a file: under its lock, from its content at that moment, recorded in the journal before, durable
 * afterwards, and then recorded as seen by the model.
 */
export class FileChanges {
  readonly #parts: ChangeParts;

  constructor(parts: ChangeParts) {
    this.#parts = parts;
  }

  /** What the file contains now; `null` when there is none. */
  async read(path: string, signal: AbortSignal): Promise<Snapshot | null> {
    const { editor } = this.#parts;
    return withFileIfAny(
      path,
      async (file) => file && ((await editor?.unsaved(file, signal)) ?? (await snapshotOf(file, signal))),
    );
  }

  /** How much of this content the model has seen. */
  knowledgeOf({ path, hash }: Snapshot): ReturnType<SeenFiles['knowledgeOf']> {
    return this.#parts.seen.knowledgeOf(path, hash);
  }

  /** Returns what the model should know beyond that the file has changed; mostly nothing. */
  async change(request: ChangeRequest): Promise<string> {
    const { path, signal, approved, decide } = request;
    return this.#parts.locks.hold(path, signal, (token) =>
      withFileIfAny(path, async (file) => {
        const unsaved = file && (await this.#parts.editor?.unsaved(file, signal));
        const current = unsaved ?? (file && (await snapshotOf(file, signal)));
        if (approved !== undefined && approved !== (current?.hash ?? null)) throw changedSince(path);
        const pieces = await decide(current);
        if (pieces === undefined) return '';
        if (unsaved) return this.#writeUnsaved(unsaved, pieces, request);
        // Gathered once: they are written, hashed and compared.
        await this.#write({ file, current, pieces: [...chunksOf(pieces)], token }, request);
        return '';
      }),
    );
  }

  /**
   * Undoes the newest changes below `root`, or all of one turn. A file that another program changed since is left
   * alone.
   */
  async undo(which: { count: number; root?: string } | { turn: string }, signal: AbortSignal): Promise<UndoOutcome[]> {
    const { journal } = this.#parts;
    const all = await journal.list(Number.POSITIVE_INFINITY);
    const wanted =
      'count' in which ? await this.undoable(which, signal) : all.filter(({ turn }) => turn === which.turn);
    const outcomes: UndoOutcome[] = [];
    for (const change of wanted) {
      const outcome = await undoChange(this.#parts, change, signal);
      outcomes.push(outcome);
      if (outcome.status !== 'skipped') await this.#forgetLater(change, all);
    }
    return outcomes;
  }

  /** Later changes of the same file were taken back before, and lead nowhere from its older content. */
  async #forgetLater({ id, path }: Change, newestFirst: readonly Change[]): Promise<void> {
    const later = newestFirst.slice(0, newestFirst.map((each) => each.id).indexOf(id));
    for (const each of later) if (each.path === path) await this.#parts.journal.forget(each.id);
  }

  /** The newest changes below `root` that are still there. A rewind has its own way back and is none of them. */
  async undoable({ count, root }: { count: number; root?: string }, signal: AbortSignal): Promise<Change[]> {
    const changes = (await this.#parts.journal.list(Number.POSITIVE_INFINITY)).filter(
      ({ tool, path }) => tool !== 'rewind' && (root === undefined || isWithin(root, path)),
    );
    const gone = new Map<string, readonly Change[]>();
    const found: Change[] = [];
    for (const change of changes) {
      if (found.length >= count) break;
      const { path } = change;
      const ofFile = changes.filter((each) => each.path === path);
      if (!gone.has(path)) gone.set(path, await this.#takenBack(ofFile, signal));
      if (gone.get(path)?.includes(change) === false) found.push(change);
    }
    return found;
  }

  /** Of the changes of one file: the newest ones, if the file has the content from before them, as after a rewind. */
  async #takenBack(changes: readonly Change[], signal: AbortSignal): Promise<readonly Change[]> {
    const [newest] = changes;
    const current = newest && (await this.read(newest.path, signal).catch(() => undefined));
    const hash = current === null ? null : current?.hash;
    if (newest?.after === hash) return [];
    return changes.slice(0, changes.findIndex(({ before }) => before === hash) + 1);
  }

  /** The journal keeps the text that was not saved. */
  async #writeUnsaved(
    before: Snapshot,
    pieces: readonly Uint8Array[],
    { path, tool, signal }: ChangeRequest,
  ): Promise<string> {
    const { editor, journal, seen } = this.#parts;
    const after = await hashOf(pieces);
    await journal.record({ tool, path, before: before.hash, after }, before.bytes);
    const note = (await editor?.replace(before, pieces, signal)) ?? '';
    seen.record(path, after);
    return note;
  }

  async #write({ file, current, pieces, token }: Write, { path, signal, tool }: ChangeRequest): Promise<void> {
    const { journal, seen } = this.#parts;
    const after = await writeRecorded(journal, { tool, path, file, current, pieces, token, signal });
    if (file && current) await this.#keepLateWrite(file, current, { tool, path, after }, signal);
    seen.record(path, after);
  }

  /**
   * Another program may have written to the old file between the last check and its replacement. No system call excludes
   * that, but the old file is still open: its content is kept, and the conflict is reported.
   */
  async #keepLateWrite(
    file: ReadableFile,
    current: Snapshot,
    change: Pick<Change, 'tool' | 'path' | 'after'>,
    signal: AbortSignal,
  ): Promise<void> {
    const late = await promisify(fstat)(file.fd, { bigint: true }).catch(() => file.stat);
    if (late.size === file.stat.size && late.mtimeNs === file.stat.mtimeNs) return;
    const bytes = await readContent({ ...file, stat: late }, signal);
    if (bytes.equals(current.bytes)) return;
    await this.#parts.journal.record({ ...change, before: await hashOf([bytes]) }, bytes);
    const message = `${change.path} was written by another program at the same moment. The file has your change; undo brings theirs back.`;
    throw new ToolError('file_changed_since_read', message);
  }
}

/** Writes a file whose lock is held, and records it in the journal. Returns the hash of the new content. */
export async function writeRecorded(
  journal: Journal,
  { tool, current, file, ...write }: Write & Pick<ChangeRequest, 'tool'> & Omit<DurableWrite, 'original'>,
): Promise<string> {
  let [id, after] = ['', ''];
  let isUnderWay = false;
  try {
    await writeDurably({
      ...write,
      original: file,
      alongside: async (madeDirectories) => {
        after = await hashOf(write.pieces);
        const change = { tool, path: write.path, before: current?.hash ?? null, after };
        const made = madeDirectories.length > 0 && { madeDirectories };
        id = await journal.record({ ...change, ...made }, current?.bytes ?? null);
      },
      beforeCommit: async () => {
        if (file && current) await assertUnchanged(file, current, write.signal);
        isUnderWay = true;
      },
    });
  } catch (error) {
    if (id !== '' && !isUnderWay) await journal.forget(id);
    throw error;
  }
  return after;
}
