import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { expect, test } from 'vitest';

test.each(['safety-table', 'limits-table'])('the page that %s makes is the one in docs', (script) => {
  const path = join(import.meta.dirname, '..', 'scripts', `${script}.mjs`);
  const { status, stderr } = spawnSync(process.execPath, [path, '--check'], { encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});

test('every test that has a long variant belongs to a suite of npm run test:long', () => {
  const root = join(import.meta.dirname, '..');
  const list = spawnSync(process.execPath, [join(root, 'scripts', 'test-long.mjs'), '--list'], { encoding: 'utf8' });
  const files = readdirSync(join(root, 'packages'), { recursive: true, encoding: 'utf8' })
    .map((file) => file.replaceAll(sep, '/'))
    .filter((file) => /^[^/]+\/src\/.*\.test\.ts$/.test(file))
    .filter((file) => /LATHE_LONG|testing\/long-run/.test(readFileSync(join(root, 'packages', file), 'utf8')));
  expect(files).not.toEqual([]);
  expect(files.filter((file) => !list.stdout.includes(`  ${file}\n`))).toEqual([]);
});
