import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished, TestRunner } from 'vitest';

/** A real directory with these files, removed after the test that called it. */
export function tempDirectory(files: Record<string, string | Uint8Array> = {}): string {
  return fill(mkdtempSync(join(tmpdir(), 'lathe-test-')), files);
}

/** The same where the sandbox has no directory of its own. Skips the test if this user can write to no such place. */
export function outsideDirectory(files: Record<string, string | Uint8Array> = {}): string {
  for (const parent of [join(import.meta.dirname, '../node_modules/.cache'), '/srv', '/opt']) {
    if (/^\/(?:tmp|var|home|root)\//.test(realpathSync(dirname(parent)))) continue;
    try {
      mkdirSync(parent, { recursive: true });
      return fill(mkdtempSync(join(parent, 'lathe-test-')), files);
    } catch {
      // Not writable for this user.
    }
  }
  return (
    TestRunner.getCurrentTest()?.context.skip('no writable directory outside of home directories, /tmp and /var') ?? ''
  );
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
