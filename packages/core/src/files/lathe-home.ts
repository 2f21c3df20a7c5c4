import { chmod, open, unlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ToolError } from '../contract/errors.js';
import { codeOf } from './fs-error.js';
import { makeDirectory } from './make-directory.js';

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
        const made = makeDirectory(path);
        await chmod(path, 0o700);
        if (made !== undefined) await flushNames(dirname(made), path);
      }
    } catch (cause) {
      throw stateError(cause, directory);
    }
    return directory;
  }

  /** Writes a new private file; fails if the name is taken. */
  async createFile(names: readonly [string, ...string[]], content: string | Uint8Array): Promise<string> {
    await this.directory(...names.slice(0, -1));
    const path = this.file(...names);
    try {
      await writeFile(path, content, { flag: 'wx', mode: 0o600 });
    } catch (cause) {
      // What did not fit is of no use to anyone, and a file of somebody else is not ours to remove.
      if (codeOf(cause) !== 'EEXIST') await unlink(path).catch(() => {});
      throw stateError(cause, path);
    }
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

const fullCodes = ['ENOSPC', 'EDQUOT', 'EFBIG'];
/** Where nothing can be created, such as below /proc or on a read-only file system, the kernel may report ENOENT. */
const refusedCodes = ['ENOENT', 'EROFS', 'EACCES', 'EPERM', 'ENOTDIR', 'EEXIST', 'ELOOP', 'EINVAL', 'ENAMETOOLONG'];

/** The typed error for state that cannot be written. Any other error is returned unchanged. */
function stateError(cause: unknown, path: string): unknown {
  const code = codeOf(cause) ?? '';
  const isFull = fullCodes.includes(code);
  if (!isFull && !refusedCodes.includes(code)) return cause;
  const problem = isFull ? `No space is left for ${path}` : `Cannot create or write ${path}`;
  const advice = isFull ? 'Free some space, or set' : 'Set';
  const message = `${problem}, where Lathe keeps its state. ${advice} LATHE_HOME to a writable directory.`;
  return new ToolError(isFull ? 'no_space_left' : 'permission_denied', message, { cause });
}
