import { mkdirSync, statSync } from 'node:fs';
import { chmod, mkdir, open, unlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { attempt, ToolError } from '../contract/errors.js';
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
        for (const missing of missingDirectories(path)) {
          await mkdir(missing, { mode: 0o700 }).catch(unlessExists);
          await flushName(missing);
        }
        await chmod(path, 0o700);
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

function unlessExists(error: unknown): void {
  // Another process may have been faster.
  if (codeOf(error) !== 'EEXIST') throw error;
}

/** Makes a new directory survive a power failure: the undo journal in it must not be lost with its name. */
async function flushName(path: string): Promise<void> {
  await flush(dirname(path)).catch((error: unknown) => {
    if (!cannotFlush.includes(codeOf(error) ?? '')) throw error;
  });
}

/** Of a file system that cannot flush directories, or of a parent that only others may read. */
const cannotFlush = ['EINVAL', 'ENOTSUP', 'EOPNOTSUPP', 'EISDIR', 'EACCES', 'EPERM'];

/** Writes what the system has only in memory to the disk. */
export async function flush(path: string): Promise<void> {
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

/**
 * Creates a directory and its missing parents, private unless `mode` says otherwise. Node's own recursive `mkdir` never
 * returns where the kernel reports a missing parent that exists, as it does below /proc.
 */
export function makeDirectory(path: string, mode = 0o700): void {
  for (const missing of missingDirectories(path)) {
    try {
      mkdirSync(missing, { mode });
    } catch (error) {
      // Another process may have been faster.
      if (codeOf(error) !== 'EEXIST' || !isDirectory(missing)) throw error;
    }
  }
}

/** The directories to create for `path`, outermost first. */
function missingDirectories(path: string): string[] {
  if (isDirectory(path)) return [];
  const parent = dirname(path);
  return parent === path ? [path] : [...missingDirectories(parent), path];
}

function isDirectory(path: string): boolean {
  return attempt(() => statSync(path).isDirectory()) ?? false;
}
