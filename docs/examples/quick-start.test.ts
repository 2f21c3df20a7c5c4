import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { tempDirectory } from '../../testing/temp-directory.js';

test('the example prints the result of its tool', async () => {
  vi.stubEnv('HOME', tempDirectory());
  vi.stubEnv('LATHE_HOME', undefined);
  const print = vi.spyOn(console, 'log').mockReturnValue();
  onTestFinished(() => {
    vi.unstubAllEnvs();
    print.mockRestore();
  });
  await import('./quick-start.js');
  expect(print.mock.calls).toEqual([['HELLO']]);
});

test('the README of the package shows exactly this file', () => {
  const source = readFileSync(join(import.meta.dirname, 'quick-start.ts'), 'utf8');
  const readme = readFileSync(join(import.meta.dirname, '..', '..', 'packages', 'core', 'README.md'), 'utf8');
  expect(readme).toContain(`\`\`\`ts\n${source}\`\`\``);
});
