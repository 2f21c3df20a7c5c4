import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'rolldown';
import { onTestFinished } from 'vitest';
import { tempDirectory } from './temp-directory.js';

/** One of `testing/children` as a script that a plain Node can run, removed after the test (or suite) that asked. */
export async function bundleChild(
  name: string,
  onDone: (remove: () => void) => void = onTestFinished,
): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'lathe-child-'));
  onDone(() => rmSync(directory, { recursive: true, force: true }));
  const outfile = join(directory, `${name}.cjs`);
  await bundleFile(join(import.meta.dirname, 'children', `${name}.ts`), outfile);
  return outfile;
}

/** The text of an ES module as a script that a plain Node can run. It imports sources by their absolute paths. */
export async function bundleText(text: string): Promise<string> {
  const directory = tempDirectory({ 'entry.ts': text });
  await bundleFile(join(directory, 'entry.ts'), join(directory, 'entry.mjs'));
  return join(directory, 'entry.mjs');
}

/** Bundles a script from the sources, like the tests themselves, whatever was built last. */
export async function bundleFile(input: string, file: string): Promise<void> {
  await build({
    input,
    platform: 'node',
    tsconfig: join(import.meta.dirname, '..', 'tsconfig.test.json'),
    // The other form of some packages cannot be bundled.
    resolve: { mainFields: ['module', 'main'] },
    output: { file, format: file.endsWith('.cjs') ? 'cjs' : 'esm', codeSplitting: false },
    logLevel: 'silent',
  });
}
