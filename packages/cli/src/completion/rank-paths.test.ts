import { expect, test } from 'vitest';
import { rankPaths } from './rank-paths.js';

const paths = [
  'README.md',
  'docs/',
  'docs/readme-for-authors.md',
  'packages/',
  'packages/cli/src/tui/app.tsx',
  'packages/cli/src/tui/agent-driver.ts',
  'packages/core/src/agent/agent.ts',
  'packages/core/src/tools/read-many-files.ts',
  'src/',
  'src/AppDelegate.m',
];
const { signal } = new AbortController();
const rank = (query: string, limit = 3) => rankPaths(paths, query, { limit, signal });

test.each([
  ['app', ['src/AppDelegate.m', 'packages/cli/src/tui/app.tsx']],
  ['agent', ['packages/core/src/agent/agent.ts', 'packages/cli/src/tui/agent-driver.ts']],
  ['delegate', ['src/AppDelegate.m']],
  ['rmf', ['packages/core/src/tools/read-many-files.ts', 'docs/readme-for-authors.md']],
  ['tuiapp', ['packages/cli/src/tui/app.tsx']],
  ['src/tui/ag', ['packages/cli/src/tui/agent-driver.ts']],
  ['README', ['README.md', 'docs/readme-for-authors.md']],
  ['zzz', []],
])('%s finds %j first', async (query, expected) => {
  expect((await rank(query)).slice(0, expected.length || 3)).toEqual(expected);
});

test('an empty query offers the top of the tree, and a slash the content of the folder', async () => {
  expect(await rank('', 9)).toEqual(['src/', 'docs/', 'README.md', 'packages/']);
  expect(await rank('src/')).toEqual(['src/AppDelegate.m']);
});

test('ranking a hundred thousand paths does not block timers, and a newer query stops it', async () => {
  const many = Array.from(
    { length: 100_000 },
    (_, index) => `packages/p${index % 100}/src/deep/file-number-${index}.ts`,
  );
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  const found = await rankPaths(many, 'filenumber99999', { limit: 8, signal });
  clearInterval(timer);
  expect(found[0]).toBe('packages/p99/src/deep/file-number-99999.ts');
  expect(turns).toBeGreaterThan(0);
  const controller = new AbortController();
  const ranking = rankPaths(many, 'filenumber', { limit: 8, signal: controller.signal });
  controller.abort();
  await expect(ranking).rejects.toThrow('aborted');
});
