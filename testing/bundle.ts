import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { onTestFinished } from 'vitest';

/** One of `testing/children` as a script that a plain Node can run, removed after the test (or suite) that asked. */
export async function bundleChild(
  name: string,
  onDone: (remove: () => void) => void = onTestFinished,
): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'lathe-child-'));
  onDone(() => rmSync(directory, { recursive: true, force: true }));
  const outfile = join(directory, `${name}.cjs`);
  await build({
    entryPoints: [join(import.meta.dirname, 'children', `${name}.ts`)],
    bundle: true,
    platform: 'node',
    format: 'cjs',
    outfile,
    // From the sources, like the tests themselves, whatever was built last.
    tsconfig: join(import.meta.dirname, '..', 'tsconfig.test.json'),
    // The other form of some packages cannot be bundled.
    mainFields: ['module', 'main'],
    logLevel: 'error',
  });
  return outfile;
}
