import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { tempDirectory } from '../../../../../testing/temp-directory.js';
import { type IndexEntry, readIndex, writeEntries } from './git-index.js';

function git(root: string, ...args: string[]): string {
  const env = { PATH: process.env['PATH'], HOME: root, GIT_CONFIG_NOSYSTEM: '1' };
  return execFileSync('git', args, { cwd: root, env, encoding: 'utf8', stdio: 'pipe' });
}

function repository(): string {
  const root = tempDirectory({ 'a.txt': 'one', 'dir/b.txt': 'two', 'dir/bc.txt': 'three', 'ü/d e.txt': 'four' });
  git(root, 'init', '-q');
  git(root, 'add', '-A');
  return root;
}

test.each([2, 3, 4])('an index of format %i that we wrote again says the same to git', (version) => {
  const root = repository();
  if (version === 3) git(root, 'add', '-A', '-f');
  git(root, 'update-index', '--index-version', String(version));
  const [file, expected] = [join(root, '.git/index'), git(root, 'ls-files', '-z', '--debug', '--stage')];
  const entries = readIndex(readFileSync(file)) ?? [];
  expect(entries.map(({ name }) => name.toString())).toEqual(['a.txt', 'dir/b.txt', 'dir/bc.txt', 'ü/d e.txt']);
  writeFileSync(file, writeEntries(entries));
  expect(git(root, 'ls-files', '-z', '--debug', '--stage')).toBe(expected);
});

test.each(['../a', '/a', 'a/../b', 'a//b', '.git/config', 'a/.GIT/config', './a'])(
  'the name %s is not plain',
  (name) => {
    const fixed = Buffer.alloc(60);
    fixed.writeUInt32BE(0o100644, 24);
    const entry: IndexEntry = { name: Buffer.from(name), fixed, id: '', size: 0, isPlain: true };
    expect(readIndex(writeEntries([entry]))?.map(({ isPlain }) => isPlain)).toEqual([false]);
  },
);

test('no damaged index breaks reading or leads to unordered names', () => {
  const bytes = readFileSync(join(repository(), '.git/index'));
  const flips = fc.array(fc.tuple(fc.nat(bytes.length - 1), fc.nat(255)), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(flips, fc.nat(bytes.length), (changes, length) => {
      const damaged = Buffer.from(bytes);
      for (const [at, value] of changes) damaged[at] = value;
      const names = (readIndex(damaged.subarray(0, length)) ?? []).map(({ name }) => name);
      expect(names).toEqual(names.toSorted((a, b) => Buffer.compare(a, b)));
    }),
    { numRuns: process.env['LATHE_LONG'] ? 100_000 : 2_000 },
  );
});
