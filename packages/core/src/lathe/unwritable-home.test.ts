import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { canMount } from '../../../../testing/programs.js';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { createLathe } from './create-lathe.js';

const never = new AbortController().signal;

/** A file system of its own, full or read-only. */
function mounted(options: string): string {
  const directory = tempDirectory();
  const mount = () => spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', directory], { stdio: 'ignore' });
  expect(mount().status).toBe(0);
  onTestFinished(() => void spawnSync('umount', [directory]));
  return directory;
}

function fullDisk(): string {
  const directory = mounted('size=64k');
  mkdirSync(join(directory, 'home'), { mode: 0o700 });
  expect(() => writeFileSync(join(directory, 'filler'), Buffer.alloc(256 * 1024))).toThrow('ENOSPC');
  return join(directory, 'home');
}

const homes: [name: string, make: () => string, canBeMade: boolean, error: string][] = [
  ['on a full disk', fullDisk, canMount(), 'no_space_left'],
  ['on a read-only file system', () => join(mounted('ro'), 'home'), canMount(), 'permission_denied'],
  ['inside /proc', () => '/proc/self/lathe', process.platform === 'linux', 'permission_denied'],
];

for (const [name, make, canBeMade, type] of homes)
  test.skipIf(!canBeMade)(
    `with a home ${name} files are read, and what needs state fails with a typed error`,
    async () => {
      const cwd = tempDirectory({ 'a.txt': 'alpha\n' });
      const latheHome = make();
      const env = { PATH: process.env['PATH'] ?? '' };
      const flags = { 'tools.approvalMode': 'yolo', 'tools.sandbox.mode': 'off' };
      const lathe = await createLathe({ cwd, env, home: cwd, latheHome, flags, audit: () => {} });
      onTestFinished(() => lathe.close());
      const outcomes = await lathe.run(
        [
          { name: 'list_directory', args: { path: cwd } },
          { name: 'read_file', args: { absolute_path: join(cwd, 'a.txt') } },
          { name: 'grep_search', args: { pattern: 'alpha' } },
          { name: 'glob', args: { pattern: '*.txt' } },
          { name: 'edit', args: { file_path: join(cwd, 'a.txt'), old_string: 'alpha', new_string: 'beta' } },
        ],
        never,
      );
      expect(outcomes.map((outcome) => [outcome.name, outcome.error?.type])).toEqual([
        ['list_directory', undefined],
        ['read_file', undefined],
        ['grep_search', undefined],
        ['glob', undefined],
        ['edit', type],
      ]);
      expect(outcomes.at(-1)?.error?.message).toContain(latheHome);
      await expect(lathe.host.home.createFile(['run', 'state'], Buffer.alloc(128 * 1024))).rejects.toMatchObject({
        type,
      });
    },
  );
