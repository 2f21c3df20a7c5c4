import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { buildProgram } from './lathe-program.js';
import { tempDirectory } from './temp-directory.js';

beforeAll(buildProgram, 300_000);

const bench = join(import.meta.dirname, '..', 'bench');

test.each([
  [['--bogus'], /bogus/],
  [['--rounds', 'many'], /--rounds/],
  [['--only', '['], /regular expression/],
  [['--only', 'no such case'], /no case matches/],
  [['--report'], /results\.json is not there/],
  [['--report', '--quick'], /beside the peers/],
])('npm run bench -- %s measures nothing and leaves its pages alone', (args, message) => {
  const before = readFileSync(join(bench, 'RESULTS.md'), 'utf8');
  const env = { ...process.env, LATHE_BENCH_DIR: tempDirectory() };
  const { status, stderr } = spawnSync(process.execPath, [join(bench, 'run.mjs'), ...args], { env, encoding: 'utf8' });
  expect([status, stderr]).toEqual([2, expect.stringMatching(message)]);
  expect(readFileSync(join(bench, 'RESULTS.md'), 'utf8')).toBe(before);
});

const result = (time: number, more = {}) => ({ time, memory: 0, stall: 0, output: 1, isRight: true, ...more });
const one = (name: string, results: object, more = {}) => ({
  group: 'g',
  name,
  results,
  verdicts: [],
  load: 1,
  ...more,
});

/** The page of these cases. */
async function pageOf(...cases: object[]): Promise<string> {
  const { writeReport } = await import(pathToFileURL(join(bench, 'report.mjs')).href);
  const path = join(tempDirectory(), 'RESULTS.md');
  writeReport(path, { about: { cores: 2 }, cases });
  return readFileSync(path, 'utf8');
}

test('a pipe in the name of a case does not end its cell', async () => {
  const page = await pageOf(one('run yes | head', { lathe: result(1), pi: result(2, { error: 'a | b' }) }));
  const rows = page.split('\n').filter((line) => line.startsWith('|'));
  expect(new Set(rows.map((row) => row.split(/(?<!\\)\|/).length)).size).toBe(1);
});

test('how fast somebody fails is neither a cost nor a lead, unless failing is the answer', async () => {
  const failed = result(0.1, { error: 'too large' });
  const growth = [1, 10, 100].map((size) =>
    one(
      `read ${size}`,
      { lathe: result(size), pi: size === 100 ? failed : result(size * 2), other: failed },
      {
        growth: { of: 'read', size },
      },
    ),
  );
  const page = await pageOf(
    ...growth,
    one('edit', { lathe: result(4), pi: failed }),
    one('edit nothing', { lathe: result(4, { error: 'no' }), pi: failed }, { isRefusal: true }),
  );
  expect(page).toContain('| read | pi | 1: 2 ms, +0 MB · 10: 20 ms, +0 MB · 100: fails | 1.00 |');
  expect(page).not.toContain('| read | other |');
  expect(page.slice(page.indexOf('## Where'))).toBe('## Where Lathe is not ahead\n\n- **edit nothing**: pi by 40 ×.\n');
});
