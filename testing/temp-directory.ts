import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A real directory with these files, removed after the test that called it. */
export function tempDirectory(files: Record<string, string | Uint8Array> = {}): string {
  return fill(mkdtempSync(join(tmpdir(), 'lathe-test-')), files);
}

/** The same outside the directories for temporary files, of which the sandbox has its own. */
export function outsideDirectory(files: Record<string, string | Uint8Array> = {}): string {
  const parent = join(import.meta.dirname, '../node_modules/.cache');
  mkdirSync(parent, { recursive: true });
  return fill(mkdtempSync(join(parent, 'lathe-test-')), files);
}

function fill(made: string, files: Record<string, string | Uint8Array>): string {
  const directory = realpathSync(made);
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(files)) {
    const path = join(directory, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  }
  return directory;
}
