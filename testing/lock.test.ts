import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');

const folders = ['.', 'site'];

test.each(folders)('npm ci accepts the lock file of %s', (folder) => {
  const args = ['ci', '--dry-run', '--offline', '--ignore-scripts', '--no-audit', '--no-fund'];
  expect(() => execFileSync('npm', args, { cwd: join(root, folder), stdio: 'pipe' })).not.toThrow();
});

test.each(folders)('the lock file of %s names the builds of every platform, and no download address', (folder) => {
  expect(() => execFileSync('node', ['scripts/complete-lock.mjs', folder, '--check'], { cwd: root })).not.toThrow();
  const lock: { packages: Record<string, { resolved?: string; link?: boolean }> } = JSON.parse(
    readFileSync(join(root, folder, 'package-lock.json'), 'utf8'),
  );
  const addresses = Object.values(lock.packages).filter(({ resolved, link }) => resolved !== undefined && !link);
  expect(addresses).toEqual([]);
});
