import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** A scratch directory for one test. */
export interface TempWorkspace {
  /** Its real path. */
  readonly path: string;
  /** The text of a file in it. */
  read(name: string): string;
  /** Removes it. */
  remove(): void;
}

/** Makes a scratch directory with these files: `{ 'src/a.ts': 'text' }`. */
export function tempWorkspace(files: Readonly<Record<string, string>> = {}): TempWorkspace {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'lathe-tool-test-')));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(path, name)), { recursive: true });
    writeFileSync(join(path, name), text);
  }
  return {
    path,
    read: (name) => readFileSync(join(path, name), 'utf8'),
    remove: () => rmSync(path, { recursive: true, force: true }),
  };
}
