import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
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
        await mkdir(path, { recursive: true, mode: 0o700 });
        await chmod(path, 0o700);
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
