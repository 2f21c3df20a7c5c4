import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { tempDirectory } from '../../../../../testing/temp-directory.js';
import { guardedNames } from './guarded-names.js';

/** Makes and removes the names all the time, as a command does whose covers are lost and the guard that ends it. */
const flicker = `
const { mkdirSync, renameSync, rmSync, writeFileSync } = require('node:fs');
mkdirSync('other');
writeFileSync('other/planted', '');
process.stdout.write('ready');
for (;;) for (const name of process.argv.slice(1)) {
  renameSync('other', name);
  renameSync(name, 'other');
}`;

test('a protected name is guarded, whether or not it appears while names are looked up', async () => {
  const root = tempDirectory({ '.git/HEAD': 'ref: refs/heads/main\n', '.git/config': '' });
  const names = ['.lathe', '.qwen', '.git/hooks'];
  const child = spawn(process.execPath, ['-e', flicker, ...names], { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await once(child, 'close');
  });
  await once(child.stdout, 'data');
  for (let count = 0; count < 5_000; count++) {
    const { fixed, reserved } = guardedNames(root, { isGitFixed: false, protectedFiles: [], obeyed: [] });
    const guarded = [...fixed, ...reserved];
    expect(names.filter((name) => !guarded.includes(join(root, name)))).toEqual([]);
  }
});
