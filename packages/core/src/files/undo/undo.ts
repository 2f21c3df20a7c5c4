import type { SeenFiles } from '../access/seen-files.js';
import type { EditorFiles } from '../editor-files.js';
import type { ReadableFile } from '../open-file.js';
import { removeEmpty } from '../write/directory-handle.js';
import { removeDurably, writeDurably } from '../write/durable-write.js';
import type { FileLocks } from '../write/file-lock.js';
import { assertUnchanged, type Snapshot, snapshotOf, withFileIfAny } from '../write/file-snapshot.js';
import type { Change, Journal } from './journal.js';

/** The outcome of undoing one change. */
export type UndoOutcome =
  /** It has its old content again. */
  | { change: Change; status: 'restored' }
  /** The change had created it, so it is gone. */
  | { change: Change; status: 'removed' }
  /** It already had the content from before the change. */
  | { change: Change; status: 'unchanged' }
  | { change: Change; status: 'skipped'; reason: string };

/** What changes of files need. */
export interface ChangeParts {
  locks: FileLocks;
  journal: Journal;
  seen: SeenFiles;
  /** A file with unsaved text is changed there. */
  editor?: EditorFiles | undefined;
}

/** Undoes one change if the file still has the content that the change gave it. */
export async function undoChange(parts: ChangeParts, change: Change, signal: AbortSignal): Promise<UndoOutcome> {
  const { id, path, before } = change;
  const outcome = await parts.locks.hold(path, signal, (token) =>
    withFileIfAny(
      path,
      async (file) =>
        (file && (await undoUnsaved(parts, change, file, signal))) ??
        (await undoOnDisk(parts, change, { file, token }, signal)),
    ),
  );
  if (outcome.status === 'skipped') return outcome;
  if (before !== null) parts.seen.record(path, before);
  await parts.journal.forget(id);
  return outcome;
}

async function undoOnDisk(
  { journal }: ChangeParts,
  change: Change,
  { file, token }: { file: ReadableFile | null; token: string },
  signal: AbortSignal,
): Promise<UndoOutcome> {
  const { path, before } = change;
  const current = file && (await snapshotOf(file, signal));
  if ((current?.hash ?? null) === before) return { change, status: 'unchanged' };
  const content = before === null ? null : await journal.contentOf(before);
  const reason = reasonToSkip(current, change, content);
  if (reason !== undefined || content === undefined || !file || !current)
    return { change, status: 'skipped', reason: reason ?? '' };
  const beforeCommit = () => assertUnchanged(file, current, signal);
  if (content === null) {
    await removeDurably({ path, original: file, beforeCommit });
    await removeEmpty(change.madeDirectories ?? []);
    return { change, status: 'removed' };
  }
  await writeDurably({ path, pieces: [content], original: file, token, signal, beforeCommit });
  return { change, status: 'restored' };
}

/** For a file with unsaved text in an editor. If a change created the file, it is not removed under that text. */
async function undoUnsaved(
  { editor, journal }: ChangeParts,
  change: Change,
  file: ReadableFile,
  signal: AbortSignal,
): Promise<UndoOutcome | undefined> {
  const unsaved = await editor?.unsaved(file, signal);
  if (!unsaved) return undefined;
  if (unsaved.hash === change.before) return { change, status: 'unchanged' };
  const content = change.before === null ? undefined : await journal.contentOf(change.before);
  const reason = reasonToSkip(unsaved, change, content);
  if (content === undefined || reason !== undefined)
    return { change, status: 'skipped', reason: reason ?? 'it has unsaved text in the editor' };
  await editor?.replace(unsaved, [content], signal);
  return { change, status: 'restored' };
}

function reasonToSkip(
  current: Snapshot | null,
  { after }: Change,
  content: Buffer | null | undefined,
): string | undefined {
  if (current === null) return 'it was removed since';
  if (current.hash !== after) return 'it was changed by another program since';
  return content === undefined ? 'its old content is no longer kept' : undefined;
}
