import { chmod, mkdir, open, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ToolError } from '../contract/errors.js';
import { codeOf } from './fs-error.js';

/** `~/.lathe` (or `LATHE_HOME`): state that only Lathe writes. Directories have mode 0700, files 0600; wrong modes are fixed. */
export class LatheHome {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  file(...names: string[]): string {
    return join(this.path, ...names);
  }

  /** Creates the directory below the home, or makes an existing one private. */
  async directory(...names: string[]): Promise<string> {
    const directory = this.file(...names);
    try {
      for (const path of [this.path, directory]) {
        const made = await mkdir(path, { recursive: true, mode: 0o700 });
        await chmod(path, 0o700);
        if (made !== undefined) await flushNames(dirname(made), path);
      }
    } catch (cause) {
      // On a read-only file system Node reports ENOENT.
      if (!['ENOENT', 'EROFS', 'EACCES', 'EPERM', 'ENOTDIR'].includes(codeOf(cause) ?? '')) throw cause;
      const message = `Lathe cannot create or write ${directory}, where it keeps its state. Set LATHE_HOME to a writable directory.`;
      throw new ToolError('permission_denied', message, { cause });
    }
    return directory;
  }

  /** Writes a new private file; fails if the name is taken. */
  async createFile(names: readonly [string, ...string[]], content: string | Uint8Array): Promise<string> {
    await this.directory(...names.slice(0, -1));
    const path = this.file(...names);
    await writeFile(path, content, { flag: 'wx', mode: 0o600 });
    return path;
  }
}

/** Makes new directories survive a power failure: the undo journal in them must not be lost with its directory. */
async function flushNames(from: string, to: string): Promise<void> {
  for (let path = dirname(to); ; path = dirname(path)) {
    await flush(path).catch((error: unknown) => {
      if (!cannotFlush.includes(codeOf(error) ?? '')) throw error;
    });
    if (path === from || path === dirname(path)) return;
  }
}

/** Of a file system that cannot flush directories, or of a parent that only others may read. */
const cannotFlush = ['EINVAL', 'ENOTSUP', 'EOPNOTSUPP', 'EISDIR', 'EACCES', 'EPERM'];

async function flush(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
