import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** `~/.lathe` (or `LATHE_HOME`): state that only Lathe writes. Directories are 0700 and files 0600, healed when not. */
export class LatheHome {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  file(...names: string[]): string {
    return join(this.path, ...names);
  }

  /** The directory below the home, made private if it is not. */
  async directory(...names: string[]): Promise<string> {
    await mkdir(this.path, { recursive: true, mode: 0o700 });
    await chmod(this.path, 0o700);
    const directory = this.file(...names);
    await mkdir(directory, { recursive: true, mode: 0o700 });
    await chmod(directory, 0o700);
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
