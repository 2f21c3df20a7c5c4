import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');

function walk(...args: string[]) {
  return spawnSync(process.execPath, [join(root, 'scripts/walk.mjs'), ...args], { encoding: 'utf8' });
}

/** The lines that name a source file; their order depends on what the file system answers first. */
const filesIn = (output: string) =>
  output
    .split('\n')
    .filter((line) => line.includes('packages/'))
    .toSorted();

test.each([
  ['edit', 48],
  ['run_shell_command', 60],
  ['grep_search', 40],
])('a call of %s runs code in at most %i source files', { timeout: 120_000 }, (tool, budget) => {
  const { stdout, stderr, status } = walk(tool);
  expect({ status, stderr }).toEqual({ status: 0, stderr: expect.not.stringContaining('Error') });
  const files = filesIn(stdout);
  expect(files).toContainEqual(expect.stringMatching(/^scheduler +packages\/core\/src\/scheduler\/scheduler\.ts$/));
  expect(stdout).toContain(`${tool}: ${files.length} files\n`);
  expect(files.length, stdout).toBeLessThanOrEqual(budget);
});

test('a call of a tool of an MCP server is followed into the client', { timeout: 120_000 }, () => {
  expect(filesIn(walk('example__hello').stdout)).toContainEqual(expect.stringMatching(/mcp\/client\/call-tool\.ts$/));
});

test('docs/architecture.md lists the files of edit; node scripts/walk-page.mjs writes them anew', {
  timeout: 120_000,
}, () => {
  const page = readFileSync(join(root, 'docs/architecture.md'), 'utf8');
  const block = /\$ npm run walk -- edit\n([^`]*)/.exec(page)?.[1] ?? '';
  expect(filesIn(block)).toEqual(filesIn(walk('edit').stdout));
});

test('a tool that cannot be walked is wrong usage, and the message names those that can', () => {
  const { status, stderr } = walk('toString');
  expect([status, stderr]).toEqual([2, expect.stringMatching(/one of edit, .*grep_search/)]);
});
