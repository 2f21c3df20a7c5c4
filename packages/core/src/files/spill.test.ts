import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { LatheHome } from './lathe-home.js';
import { SpillStore } from './spill.js';

test('a spilled text is private, stays in its directory whatever its name, and says when it is not whole', async () => {
  const directory = tempDirectory();
  const store = new SpillStore(new LatheHome(directory));
  const path = await store.write('../../x\0/y', 'whole');
  expect(path.startsWith(join(directory, 'spill', '.'))).toBe(true);
  expect([readFileSync(path, 'utf8'), statSync(path).mode & 0o777]).toEqual(['whole', 0o600]);
  const long = await store.write('long', 'x'.repeat(51 * 1024 * 1024));
  expect(readFileSync(long).subarray(-60).toString()).toContain('[cut here');
});
