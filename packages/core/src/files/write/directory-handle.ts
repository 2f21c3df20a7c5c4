import { constants, type FileHandle, mkdir, open, readlink, rmdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ToolError } from '../../contract/errors.js';
import { osPath, shownPath } from '../file-name.js';
import { codeOf } from '../fs-error.js';

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;

/**
 * A directory held open. On Linux its entries are reached through the descriptor, so that swapping a parent for a symlink
 * after the check has no effect.
 */
export class DirectoryHandle {
  readonly path: string;
  readonly #handle: FileHandle;
  /** Directories that were created, outermost first. */
  readonly created: readonly string[];

  private constructor(path: string, handle: FileHandle, created: readonly string[]) {
    this.path = path;
    this.#handle = handle;
    this.created = created;
  }

  /** Opens `realPath`, which must contain no symlink, and creates it with its parents when missing. */
  static async open(realPath: string): Promise<DirectoryHandle> {
    try {
      return await DirectoryHandle.#openVerified(osPath(realPath), realPath, []);
    } catch (error) {
      if (codeOf(error) !== 'ENOENT' || dirname(realPath) === realPath) throw error;
    }
    const parent = await DirectoryHandle.open(dirname(realPath));
    try {
      return await parent.#create(basename(realPath));
    } catch (error) {
      await parent.removeCreated();
      throw error;
    } finally {
      await parent.close();
    }
  }

  static async #openVerified(
    path: string | Buffer,
    realPath: string,
    created: readonly string[],
  ): Promise<DirectoryHandle> {
    const handle = await open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    const directory = new DirectoryHandle(realPath, handle, created);
    try {
      await directory.verify();
    } catch (error) {
      await handle.close();
      throw error;
    }
    return directory;
  }

  async #create(name: string): Promise<DirectoryHandle> {
    const made = await mkdir(this.entry(name)).then(
      () => true,
      (error: unknown) => {
        if (codeOf(error) === 'EEXIST') return false;
        throw error;
      },
    );
    if (made) await this.sync();
    const path = join(this.path, name);
    return DirectoryHandle.#openVerified(this.entry(name), path, made ? [...this.created, path] : this.created);
  }

  /** The path to use for `name`: it stays valid when the directory is moved or its parents are swapped. */
  entry(name: string): string | Buffer {
    return osPath(join(process.platform === 'linux' ? `/proc/self/fd/${this.#handle.fd}` : this.path, name));
  }

  /** Throws unless the open directory is still at its path. */
  async verify(): Promise<void> {
    if (process.platform !== 'linux') return;
    const actual = shownPath(await readlink(`/proc/self/fd/${this.#handle.fd}`, { encoding: 'buffer' }));
    if (actual === this.path) return;
    throw new ToolError(
      'file_changed_since_read',
      `${this.path} now leads to ${actual}: it was moved, removed or replaced meanwhile. Nothing was written.`,
    );
  }

  /** Makes new names durable. A file system that cannot flush directories is not a failure. */
  async sync(): Promise<void> {
    try {
      await this.#handle.sync();
    } catch (error) {
      if (!['EINVAL', 'ENOTSUP', 'EOPNOTSUPP', 'EISDIR'].includes(codeOf(error) ?? '')) throw error;
    }
  }

  /** Removes the directories created for a failed write, as far as they are empty. */
  async removeCreated(): Promise<void> {
    await removeEmpty(this.created);
  }

  /** Nothing is written through the handle, so a failed close loses nothing. */
  async close(): Promise<void> {
    await this.#handle.close().catch(() => {});
  }
}

/** Removes these directories, given outermost first, as far as they are empty. */
export async function removeEmpty(directories: readonly string[]): Promise<void> {
  try {
    for (const path of directories.toReversed()) await rmdir(osPath(path));
  } catch (error) {
    // The first that is not empty, or gone, ends it.
    if (codeOf(error) === undefined) throw error;
  }
}
