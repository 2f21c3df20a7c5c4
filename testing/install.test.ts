import { execFileSync } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { expect, test } from 'vitest';
import { tempDirectory } from './temp-directory.js';

const root = join(import.meta.dirname, '..');

test('npm run install-lathe puts lathe on the PATH for use in any directory', { timeout: 180_000 }, () => {
  const [home, elsewhere] = [tempDirectory(), tempDirectory({ 'notes.txt': 'find me\n' })];
  const prefix = join(home, 'global');
  const env = {
    ...process.env,
    HOME: home,
    npm_config_prefix: prefix,
    npm_config_prefer_offline: 'true',
    PATH: [join(prefix, 'bin'), process.env['PATH']].join(delimiter),
  };
  const said = execFileSync('npm', ['run', '-s', 'install-lathe'], { cwd: root, env, encoding: 'utf8' });
  expect(said).toContain(`Installed ${join(prefix, 'bin', 'lathe')}`);
  const lathe = (...args: string[]) => execFileSync('lathe', args, { cwd: elsewhere, env, encoding: 'utf8' });
  expect(lathe('--version')).toMatch(/^\d+\.\d+\.\d+\n$/);
  expect(lathe('call', 'grep_search', '{"pattern": "find me"}')).toContain('notes.txt');
  expect(lathe('demo', '--yes')).toContain('This is a script, not a model');
});
