import { appendFileSync, closeSync, openSync, truncateSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import iconv from 'iconv-lite';
import { expect, test } from 'vitest';
import { tempDirectory } from '../../../../../testing/temp-directory.js';
import { withReadableFile } from '../open-file.js';
import { readAt, readText, type TextRange, type TextSlice } from './read-text.js';

const signal = new AbortController().signal;

function fileWith(content: string | Uint8Array): string {
  const path = join(tempDirectory(), 'a.txt');
  writeFileSync(path, content);
  return path;
}

const readingOf = (path: string, range: Partial<TextRange> = {}) => {
  const wanted = { offset: 0, limit: 1000, maxChars: 25_000, ...range };
  return withReadableFile(path, async (file) => readText(file, await readAt(file, 0, wanted.maxChars), wanted, signal));
};

async function sliceOf(path: string, range: Partial<TextRange> = {}): Promise<TextSlice> {
  const reading = await readingOf(path, range);
  if (reading.type !== 'text') throw new Error(reading.type);
  return reading.slice;
}

test('reading on from where the last part ended gives the whole text', { timeout: 60_000 }, async () => {
  const encodings = ['utf-8', 'utf-16le', 'utf-16be', 'utf-32le', 'gb18030'];
  const line = fc.string({ unit: fc.constantFrom('a', ' ', '\t', '\r', '漢', 'é', '👍', '\u0A0A'), maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(
      fc.array(line, { minLength: 1, maxLength: 60 }),
      fc.constantFrom(...encodings),
      fc.boolean(),
      fc.integer({ min: 1, max: 20 }),
      fc.integer({ min: 80, max: 500 }),
      async (lines, encoding, endsWithNewline, limit, maxChars) => {
        const text = `这个函数计算两个数字的总和，并且返回结果。\n${lines.join('\n')}${endsWithNewline ? '\n' : ''}`;
        const mark = encoding.startsWith('utf-') && encoding !== 'utf-8' ? '\uFEFF' : '';
        const path = fileWith(iconv.encode(mark + text, encoding, { addBOM: false }));
        let collected = '';
        for (let offset = 0; ; ) {
          const slice = await sliceOf(path, { offset, limit, maxChars });
          collected += slice.text;
          expect(slice.next).toBeGreaterThan(offset);
          offset = slice.next;
          if (slice.next === slice.total) break;
        }
        expect(collected).toBe(text);
      },
    ),
    { numRuns: process.env['LATHE_LONG'] === '1' ? 5000 : 200 },
  );
});

// RR04
test('the first lines of a sparse terabyte, and the line before the hole', async () => {
  const path = fileWith('first\nsecond\nthird\n');
  truncateSync(path, 2 ** 40);
  expect(await sliceOf(path, { offset: 1, limit: 2 })).toMatchObject({ text: 'second\nthird\n', next: 3 });
  expect(await sliceOf(path, { offset: 2, limit: 5, maxChars: 100 })).toMatchObject({ text: 'third\n', next: 3 });
  const hole = await sliceOf(path, { offset: 3, maxChars: 100 });
  expect(hole).toMatchObject({ text: '[binary data, not shown]… [line cut after 100 characters]\n', isCut: true });
});

// RR05
test('ten million lines and a line of a hundred megabytes in flat memory, with a free event loop', {
  timeout: 120_000,
}, async () => {
  const path = fileWith('');
  const fd = openSync(path, 'w');
  for (let count = 0; count < 100; count++) writeSync(fd, 'a\n'.repeat(100_000));
  for (let count = 0; count < 100; count++) writeSync(fd, 'x'.repeat(1_000_000));
  writeSync(fd, '\nlast\n');
  closeSync(fd);
  const before = process.memoryUsage().rss;
  let turns = 0;
  let turning = setImmediate(function turn() {
    turns++;
    turning = setImmediate(turn);
  });
  const deep = await sliceOf(path, { offset: 9_999_999, limit: 1 });
  const long = await sliceOf(path, { offset: 10_000_000 });
  const last = await sliceOf(path, { offset: 10_000_001 });
  clearImmediate(turning);
  expect(deep).toMatchObject({ text: 'a\n', next: 10_000_000 });
  expect(long).toMatchObject({ isCut: true, next: 10_000_001 });
  expect(long.text).toHaveLength(25_000 + '… [line cut after 25000 characters]\n'.length);
  expect(last).toMatchObject({ text: 'last\n', next: 10_000_002 });
  expect(await readingOf(path, { offset: 10_000_002 })).toEqual({ type: 'past-end', total: 10_000_002 });
  expect(process.memoryUsage().rss - before).toBeLessThan(64_000_000);
  // One turn of the event loop for each of the hundred megabytes at least.
  expect(turns).toBeGreaterThan(100);
});

// RR10
test.each([
  ['a surrogate pair', `${'x'.repeat(99)}👍yyy`, 'x'.repeat(99)],
  ['an escape sequence', `${'x'.repeat(96)}\u001B[31myyy`, 'x'.repeat(96)],
])('a cut does not split %s', async (_, text, kept) => {
  expect((await sliceOf(fileWith(text), { maxChars: 100 })).text).toBe(`${kept}… [line cut after 100 characters]\n`);
});

test('a line that does not fit is left for the next read rather than cut', async () => {
  const path = fileWith(`${'a'.repeat(60)}\n${'b'.repeat(60)}\n`);
  expect(await sliceOf(path, { maxChars: 100 })).toMatchObject({
    text: `${'a'.repeat(60)}\n`,
    next: 1,
    isShortened: true,
  });
  expect(await sliceOf(path, { maxChars: 100, offset: 1 })).toMatchObject({ text: `${'b'.repeat(60)}\n`, next: 2 });
});

// RR10
test('half of a surrogate pair in UTF-16 reaches nobody', async () => {
  const path = fileWith(Buffer.from('\uFEFFa\uD800b\n', 'utf16le'));
  expect((await sliceOf(path)).text).toBe('a\uFFFDb\n');
});

test('a line of binary data in a text is named, not shown', async () => {
  const path = fileWith(`${'text\n'.repeat(2000)}a\0b\nend\n`);
  expect((await sliceOf(path, { offset: 1999 })).text).toBe('text\n[binary data, not shown]\nend\n');
});

// RR06
test('a file that grows or shrinks while it is read gives what was there', async () => {
  const path = fileWith('one\ntwo\n');
  const grown = await withReadableFile(path, async (file) => {
    appendFileSync(path, 'three\n');
    return readText(file, await readAt(file, 0, 100), { offset: 0, limit: 10, maxChars: 100 }, signal);
  });
  expect(grown).toMatchObject({ slice: { text: 'one\ntwo\n', total: 2 } });
  const shrunk = await withReadableFile(path, async (file) => {
    truncateSync(path, 4);
    return readText(file, await readAt(file, 0, 100), { offset: 0, limit: 10, maxChars: 100 }, signal);
  });
  expect(shrunk).toMatchObject({ slice: { text: 'one\n', total: 1 } });
});

// RR03
test.skipIf(process.platform !== 'linux')('files of the kernel without a size are read', async () => {
  const slice = await sliceOf('/proc/cpuinfo');
  expect(slice.text).toMatch(/processor/);
  expect(slice.total).toBeGreaterThan(1);
});
