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
  'test/average.test.js': [
    "import assert from 'node:assert/strict';",
    "import { test } from 'node:test';",
    "import { average } from '../src/average.js';",
    '',
    "test('the mean of 1, 2, 3 is 2', () => assert.equal(average([1, 2, 3]), 2));",
    '',
  ].join('\n'),
};

export interface DemoProject {
  /** Contains everything; removed at the end. */
  folder: string;
  root: string;
  /** Replaces `~/.lathe`, so that approvals in the demo have no effect elsewhere. */
  latheHome: string;
}

/** Creates a small project with a bug and a failing test, and a Lathe home, in a new folder. */
export async function makeDemoProject(): Promise<DemoProject> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'lathe-demo-')));
  const root = join(folder, 'project');
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, name)), { recursive: true });
    await writeFile(join(root, name), content);
  }
  return { folder, root, latheHome: join(folder, 'home') };
}
