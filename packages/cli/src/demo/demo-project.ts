import { mkdir, mkdtemp, realpath, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const files: Record<string, string> = {
  'package.json': '{ "name": "demo", "private": true, "type": "module", "scripts": { "test": "node --test" } }\n',
  'src/average.js': `/** The mean of a list of numbers. */
export function average(numbers) {
  let sum = 0;
  for (let i = 1; i < numbers.length; i++) sum += numbers[i];
  return sum / numbers.length;
}
`,
  'test/average.test.js': `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { average } from '../src/average.js';

test('the mean of 1, 2, 3 is 2', () => assert.equal(average([1, 2, 3]), 2));
`,
};

export interface DemoProject {
  /** Holds all of it, to be removed in the end. */
  folder: string;
  root: string;
  /** In the place of `~/.lathe`, so that no answer given in the demo holds elsewhere. */
  latheHome: string;
}

/** A small project with a bug and a test that shows it, and a place for what Lathe keeps, in a new folder. */
export async function makeDemoProject(): Promise<DemoProject> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'lathe-demo-')));
  const root = join(folder, 'project');
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, name)), { recursive: true });
    await writeFile(join(root, name), content);
  }
  return { folder, root, latheHome: join(folder, 'home') };
}
