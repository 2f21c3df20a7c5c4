import { randomUUID } from 'node:crypto';
import { closeSync, fstatSync, lstatSync, openSync, unlinkSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { ToolError } from '../contract/errors.js';
import { contentHash } from './access/seen-files.js';
import { osPath } from './file-name.js';
import { type ReadableFile, withReadableFile } from './open-file.js';
import { codecFor, detectEncoding } from './read/text-encoding.js';
import { changedSince, readContent, type Snapshot, withFileIfAny } from './write/file-snapshot.js';
import { tempPrefix } from './write/temp-name.js';

/** The files that are open in an editor, by real path. */
export interface Buffers {
  /** The text as the editor shows it; `undefined` when it does not know the file. */
  read(path: string, signal: AbortSignal): Promise<string | undefined>;
  /** Replaces the text. Whether the file is saved is up to the editor. Missing if the editor takes no text. */
  write?(path: string, text: string, signal: AbortSignal): Promise<void>;
}

/** Larger files are taken from the disk without asking the editor. */
const maxBytes = 8 << 20;
const maxPaths = 10_000;
/** How long an editor may take to notice that a file changed on disk. */
const reloadMs = 1000;
const pollMs = 50;

/**
 * What editors show of files before it is saved. Text counts as unsaved when it differs from the file on disk by more than
 * a byte order mark, line endings or the last line break, unless it is what the file contained before.
 */
export class EditorFiles {
  readonly #buffers: Buffers;
  /** The hash of the text that editor and disk last had in common, by path. */
  readonly #common = new Map<string, string>();

  constructor(buffers: Buffers) {
    this.#buffers = buffers;
  }

  /** The unsaved text of a file that exists, as UTF-8. */
  async unsaved(file: ReadableFile, signal: AbortSignal): Promise<Snapshot | undefined> {
    const { path, stat } = file;
    const saved = stat.size > maxBytes ? undefined : await plainText(await readContent(file, signal));
    // Only text can be open as text.
    if (saved === undefined) return undefined;
    let text = await this.#read(path, signal);
    while (text !== undefined && this.#isUnsaved(path, text, saved) && isRecent(stat.mtimeMs)) {
      await setTimeout(pollMs, undefined, { signal });
      text = await this.#read(path, signal);
    }
    return text !== undefined && this.#isUnsaved(path, text, saved) ? snapshot(path, text) : undefined;
  }

  /** Replaces unsaved text if it is still the same. Returns what the model should know about it. */
  async replace(before: Snapshot, pieces: readonly Uint8Array[], signal: AbortSignal): Promise<string> {
    const { path } = before;
    if (!this.#buffers.write)
      throw new ToolError('file_write_failure', `${path} has unsaved changes in the editor. Ask the user to save it.`);
    const now = await this.#read(path, signal);
    if (now === undefined || contentHash(Buffer.from(now)) !== before.hash) throw changedSince(path);
    const text = Buffer.concat(pieces).toString('utf8');
    await this.#buffers.write(path, text, signal);
    const written = await this.#read(path, signal);
    if (written === undefined || normalized(written) !== normalized(text))
      return 'The editor has changed the text further. Read it again before the next change.';
    const saved = await withFileIfAny(path, async (file) => file && plainText(await readContent(file, signal)));
    if (saved === normalized(text)) return '';
    return 'The file is open in the editor and not saved: commands and searches see the file on disk.';
  }

  #isUnsaved(path: string, text: string, saved: string): boolean {
    const shown = normalized(text);
    const hash = contentHash(Buffer.from(shown));
    // The editor has not yet loaded what came to the disk since.
    if (shown !== saved) return this.#common.get(path) !== hash;
    this.#common.delete(path);
    this.#common.set(path, hash);
    const oldest = this.#common.keys().next();
    if (this.#common.size > maxPaths && oldest.done !== true) this.#common.delete(oldest.value);
    return false;
  }

  /** The editor follows symlinks, so the path must lead to the same file before and after. */
  async #read(path: string, signal: AbortSignal): Promise<string | undefined> {
    const place = placeOf(path);
    const text = await this.#buffers.read(path, signal);
    signal.throwIfAborted();
    if (text === undefined || text.length > maxBytes) return undefined;
    if (placeOf(path) !== place)
      throw new ToolError('file_changed_since_read', `${path} changed while it was being read. Try again.`);
    return text;
  }
}

/** Opens a judged path for reading: what an editor shows of it, if that is not saved, or else the file on disk. */
export async function withCurrentFile<T>(
  path: string,
  editor: EditorFiles | undefined,
  signal: AbortSignal,
  use: (file: ReadableFile) => Promise<T>,
): Promise<T> {
  const unsaved = editor && (await withReadableFile(path, (file) => editor.unsaved(file, signal)));
  return unsaved ? withText(unsaved, use) : withReadableFile(path, use);
}

/** A private file without a name, so that unsaved text is read in the same way as any other. */
async function withText<T>({ path, bytes }: Snapshot, use: (file: ReadableFile) => Promise<T>): Promise<T> {
  const name = join(tmpdir(), `${tempPrefix}${randomUUID()}`);
  const fd = openSync(name, 'wx+', 0o600);
  try {
    unlinkSync(name);
    for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done, bytes.length - done, done);
    return await use({ path, fd, stat: fstatSync(fd, { bigint: true }) });
  } finally {
    closeSync(fd);
  }
}

function snapshot(path: string, text: string): Snapshot {
  const bytes = Buffer.from(text);
  return { path, bytes, hash: contentHash(bytes), otherNames: 0 };
}

/** The text of a file as editors show it; `undefined` when it is not text. */
async function plainText(bytes: Buffer): Promise<string | undefined> {
  const encoding = await detectEncoding(bytes);
  return encoding && normalized((await codecFor(encoding)).decode(bytes.subarray(encoding.bom.length)));
}

function normalized(text: string): string {
  return text
    .replace(/^\ufeff/, '')
    .replaceAll('\r\n', '\n')
    .replace(/\n$/, '');
}

function isRecent(mtimeMs: bigint): boolean {
  const age = Date.now() - Number(mtimeMs);
  return age >= 0 && age < reloadMs;
}

/** Changes when another file or a symlink takes this place or that of a directory above, even for a moment. */
function placeOf(path: string): string {
  const inodes: (bigint | undefined)[] = [];
  for (let at = dirname(path); at !== dirname(at); at = dirname(at)) inodes.push(statOf(at)?.ino);
  const file = statOf(path);
  return [file?.dev, file?.ino, file?.ctimeNs, ...inodes].join(':');
}

const statOf = (path: string) => lstatSync(osPath(path), { bigint: true, throwIfNoEntry: false });
