import { constants, type FileHandle, mkdir, open, readlink, rmdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ToolError } from '../../contract/errors.js';
import { osPath, shownPath } from '../file-name.js';
import { codeOf } from '../fs-error.js';

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;

/**
 * A directory held open. On Linux its entries are named through the descriptor, so that a parent swapped for a link
 * after the check diverts nothing.
 */
export class DirectoryHandle {
  readonly path: string;
  readonly #handle: FileHandle;
  /** Directories made on the way, outermost first. */
  readonly created: readonly string[];

  private constructor(path: string, handle: FileHandle, created: readonly string[]) {
    this.path = path;
    this.#handle = handle;
    this.created = created;
  }

  /** Opens `realPath`, which must lead to itself without any link, and creates it with its parents when missing. */
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

  /** The path to use for `name`: it stays right when the directory is moved or its parents are swapped. */
  entry(name: string): string | Buffer {
    return osPath(join(process.platform === 'linux' ? `/proc/self/fd/${this.#handle.fd}` : this.path, name));
  }

  /** Throws unless the open directory still is the one its path names. */
  async verify(): Promise<void> {
    if (process.platform !== 'linux') return;
    const actual = shownPath(await readlink(`/proc/self/fd/${this.#handle.fd}`, { encoding: 'buffer' }));
    if (actual === this.path) return;
    throw new ToolError(
      'file_changed_since_read',
      `${this.path} now leads to ${actual}: it was moved, removed or replaced meanwhile. Nothing was written.`,
    );
  }

  /** Makes new names durable. File systems that cannot flush a directory say so, which is no failure. */
  async sync(): Promise<void> {
    try {
      await this.#handle.sync();
    } catch (error) {
      if (!['EINVAL', 'ENOTSUP', 'EOPNOTSUPP', 'EISDIR'].includes(codeOf(error) ?? '')) throw error;
    }
  }

  /** Takes back the directories made for a write that failed, as far as they are empty. */
  async removeCreated(): Promise<void> {
    await removeEmpty(this.created);
  }

  /** Nothing is written through the handle, so a failing close says nothing about what was done. */
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
