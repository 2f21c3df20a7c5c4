import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

test.each(['safety-table', 'limits-table'])('the page that %s makes is the one in docs', (script) => {
  const path = join(import.meta.dirname, '..', 'scripts', `${script}.mjs`);
  const { status, stderr } = spawnSync(process.execPath, [path, '--check'], { encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});
