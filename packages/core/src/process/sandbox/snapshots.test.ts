import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tempDirectory } from '../../../../../testing/temp-directory.js';
import { planSteadily, Snapshots } from './snapshots.js';

test('a plan that missed a protected file is made again', () => {
  const file = join(tempDirectory({ '.envrc': 'mine\n' }), '.envrc');
  const snapshots = new Snapshots();
  snapshots.take([file]);
  rmSync(file);
  const seesFile = () => {
    const isThere = existsSync(file);
    if (!isThere) writeFileSync(file, 'mine\n');
    return isThere;
  };
  expect(planSteadily(seesFile, snapshots)).toBe(true);
});
