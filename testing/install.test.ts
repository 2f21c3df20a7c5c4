import { execFileSync } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { expect, test } from 'vitest';
import { tempDirectory } from './temp-directory.js';

const root = join(import.meta.dirname, '..');

// The commands of the README, as somebody types them who has nothing but Node, npm and git.
test.runIf(existsSync(join(root, '.git')))('a fresh clone runs, and installs lathe', { timeout: 600_000 }, () => {
  const [home, elsewhere] = [tempDirectory(), tempDirectory({ 'notes.txt': 'find me\n' })];
  const clone = join(tempDirectory(), 'lathe');
  execFileSync('git', ['clone', '--quiet', '--depth=1', `file://${root}`, clone]);
  const prefix = join(home, 'global');
  const { VITEST: _, HOME: realHome = '', ...variables } = process.env;
  const env = {
    ...variables,
    HOME: home,
    npm_config_prefix: prefix,
    npm_config_userconfig: join(realHome, '.npmrc'),
    npm_config_cache: process.env['npm_config_cache'] ?? join(realHome, '.npm'),
    npm_config_prefer_offline: 'true',
    PATH: [join(prefix, 'bin'), process.env['PATH']].join(delimiter),
  };
  const npm = (...args: string[]) => execFileSync('npm', args, { cwd: clone, env, encoding: 'utf8', stdio: 'pipe' });
  npm('ci');
  expect(npm('start', '--silent', '--', '--version')).toMatch(/^\d+\.\d+\.\d+\n$/);
  expect(npm('run', '-s', 'install-lathe')).toContain(`Installed ${join(prefix, 'bin', 'lathe')}`);

  // A whole node_modules: too much for the time of a hook.
  rmSync(clone, { recursive: true });

  const lathe = (...args: string[]) => execFileSync('lathe', args, { cwd: elsewhere, env, encoding: 'utf8' });
  expect(lathe('--version')).toMatch(/^\d+\.\d+\.\d+\n$/);
  expect(lathe('call', 'grep_search', '{"pattern": "find me"}')).toContain('notes.txt');
  expect(lathe('demo', '--yes')).toContain('This is a script, not a model');
});
