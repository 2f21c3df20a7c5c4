import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');

test('npm ci accepts the lock file', () => {
  const args = ['ci', '--dry-run', '--offline', '--ignore-scripts', '--no-audit', '--no-fund'];
  expect(() => execFileSync('npm', args, { cwd: root, stdio: 'pipe' })).not.toThrow();
});

test('the lock file names the builds of every platform, and no download address', () => {
  expect(() => execFileSync('node', ['scripts/complete-lock.mjs', '--check'], { cwd: root })).not.toThrow();
  const lock: { packages: Record<string, { resolved?: string; link?: boolean }> } = JSON.parse(
    readFileSync(join(root, 'package-lock.json'), 'utf8'),
  );
  const addresses = Object.values(lock.packages).filter(({ resolved, link }) => resolved !== undefined && !link);
  expect(addresses).toEqual([]);
});
