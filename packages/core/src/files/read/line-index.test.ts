import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { tempDirectory } from '../../../../../testing/temp-directory.js';
import { readFully, withReadableFile } from '../open-file.js';
import { countLines, lineIndexOf, newlineOf, skipLines } from './line-index.js';

const signal = new AbortController().signal;
const withIndex = <T>(path: string, use: (find: (line: number) => Promise<number | undefined>) => Promise<T>) =>
  withReadableFile(path, (file) => use((line) => lineIndexOf(file, 'utf-8').find(file.fd, line, signal)));

test('lines are found across many chunks, forwards and backwards', async () => {
  const path = join(tempDirectory(), 'a.txt');
  writeFileSync(path, Array.from({ length: 60_000 }, (_, index) => `${index}${'x'.repeat(index % 120)}\n`).join(''));
  await withReadableFile(path, async (file) => {
    const index = lineIndexOf(file, 'utf-8');
    for (const line of [0, 1, 59_999, 17, 30_000, 30_001, 0]) {
      const start = await index.find(file.fd, line, signal);
      const text = await readFully(file.fd, Buffer.alloc(6), start ?? -1, 6);
      expect(text.toString()).toMatch(new RegExp(`^${line}(?:x|\\n)`));
    }
    expect(await index.find(file.fd, 60_000, signal)).toBeUndefined();
    expect(index.totalLines).toBe(60_000);
  });
});

test.each([
  ['', 0],
  ['\n', 1],
  ['a', 1],
  ['a\n', 1],
  ['a\nb', 2],
  ['\n\n', 2],
])('%j has %i lines', async (text, count) => {
  const path = join(tempDirectory(), 'a.txt');
  writeFileSync(path, text);
  expect(countLines(Buffer.from(text), newlineOf('utf-8'))).toBe(count);
  await withReadableFile(path, async (file) => {
    expect(await lineIndexOf(file, 'utf-8').count(file.fd, signal)).toBe(count);
  });
});

test('a file that changed is indexed anew', async () => {
  const path = join(tempDirectory(), 'a.txt');
  writeFileSync(path, 'a\nb\nc\n');
  expect(await withIndex(path, (find) => find(2))).toBe(4);
  writeFileSync(path, 'aaa\nb\nc\n');
  expect(await withIndex(path, (find) => find(2))).toBe(6);
});

test('in UTF-16 only a whole character is a newline', () => {
  // U+0A0A U+000A: the first character holds two bytes that look like newlines.
  const bytes = Buffer.from('\u0A0A\u0100\u000A\u0A00x', 'utf16le');
  expect(skipLines(bytes, newlineOf('utf-16le'), 1)).toEqual({ count: 1, end: 6 });
  expect(skipLines(bytes, newlineOf('utf-16le'), 2)).toEqual({ count: 1 });
});

test('counting agrees with splitting', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom('a', '\n', '\r\n', '漢')), (pieces) => {
      const text = pieces.join('');
      const expected = text === '' ? 0 : text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
      expect(countLines(Buffer.from(text), newlineOf('utf-8'))).toBe(expected);
    }),
  );
});

test('short and long lines in any mixture are counted and found', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(3), fc.integer({ min: 1, max: 3000 })), { maxLength: 8 }),
      fc.nat(10_000),
      (blocks, wanted) => {
        const text = blocks.map(([length, times]) => `${'x'.repeat(length ** 4)}\n`.repeat(times)).join('');
        const ends = [...text.matchAll(/\n/g)].map(({ index }) => index + 1);
        const expected = wanted <= ends.length ? { count: wanted, end: ends[wanted - 1] ?? 0 } : { count: ends.length };
        expect(skipLines(Buffer.from(text), newlineOf('utf-8'), wanted)).toEqual(expected);
      },
    ),
    { numRuns: 50 },
  );
});

test('a scan can be stopped', async () => {
  const path = join(tempDirectory(), 'a.txt');
  writeFileSync(path, 'x\n'.repeat(2_000_000));
  const stop = new AbortController();
  stop.abort();
  await expect(
    withReadableFile(path, (file) => lineIndexOf(file, 'utf-8').find(file.fd, 1_900_000, stop.signal)),
  ).rejects.toMatchObject({ name: 'AbortError' });
});
