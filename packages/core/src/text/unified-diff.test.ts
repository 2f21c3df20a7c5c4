import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { diffLines } from './line-diff.js';
import { formatDiff, hunksOf } from './unified-diff.js';

const split = (text: string) => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];

async function diff(before: string, after: string): Promise<string> {
  const [a, b] = [split(before), split(after)];
  return formatDiff(hunksOf(a, b, await diffLines(a, b)), { oldName: 'f', newName: 'f' });
}

const body = (text: string) => text.split('\n').slice(3, -1);

// SF09
describe('the diff that the user approves', () => {
  test('has three lines of context and the right numbers', async () => {
    const lines = Array.from({ length: 20 }, (_, index) => `line ${index + 1}\n`);
    const changed = lines.with(9, 'other\n').join('');
    expect(await diff(lines.join(''), changed)).toBe(
      '--- f\n+++ f\n@@ -7,7 +7,7 @@\n line 7\n line 8\n line 9\n-line 10\n+other\n line 11\n line 12\n line 13\n',
    );
  });

  test.each([
    ['indentation', '  a\n', 'a\n', ['-  a', '+a']],
    ['trailing whitespace', 'a \n', 'a\n', ['-a ', '+a']],
    ['line endings', 'a\r\n', 'a\n', ['-a␍', '+a']],
    ['a lone CR', 'a\r', 'a\n', ['-a␍ (CR alone)', '+a']],
    ['a byte order mark', '\uFEFFa\n', 'a\n', ['-<BOM>a', '+a']],
    ['direction overrides', 'a\n', 'a\u202E\n', ['-a', '+a<U+202E>']],
    ['escape sequences', 'a\n', 'a\u001B[2K\n', ['-a', '+a<U+001B>[2K']],
    ['zero-width characters', 'a\n', 'a\u200B\n', ['-a', '+a<U+200B>']],
    ['the last line break', 'a\n', 'a', ['-a', '+a', '\\ No newline at end of file']],
  ])('%s are seen', async (_, before, after, expected) => {
    expect(body(await diff(before, after))).toEqual(expected);
  });

  test('uniform CRLF is not marked', async () => {
    expect(body(await diff('a\r\nb\r\n', 'a\r\nc\r\n'))).toEqual([' a', '-b', '+c']);
  });

  test('a new and an emptied file', async () => {
    expect(await diff('', 'a\n')).toBe('--- f\n+++ f\n@@ -0,0 +1 @@\n+a\n');
    expect(await diff('a\n', '')).toBe('--- f\n+++ f\n@@ -1 +0,0 @@\n-a\n');
  });
});

/** Applies the edits: what a diff says must be what happened. */
function patched(a: readonly string[], b: readonly string[], edits: Awaited<ReturnType<typeof diffLines>>): string[] {
  const out: string[] = [];
  let at = 0;
  for (const { oldStart, oldEnd, newStart, newEnd } of edits) {
    out.push(...a.slice(at, oldStart), ...b.slice(newStart, newEnd));
    at = oldEnd;
  }
  return [...out, ...a.slice(at)];
}

test('a diff is always correct', async () => {
  const lines = fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e'), { maxLength: 40 });
  const property = fc.asyncProperty(lines, lines, async (a, b) => {
    expect(patched(a, b, await diffLines(a, b))).toEqual(b);
  });
  await fc.assert(property, { numRuns: 300 });
});

test('two large unrelated files, and a large file changed in many places, are compared without an exact search', async () => {
  const a = Array.from({ length: 30_000 }, (_, index) => `a${index}`);
  const unrelated = Array.from({ length: 30_000 }, (_, index) => `b${index}`);
  expect(await diffLines(a, unrelated)).toEqual([{ oldStart: 0, oldEnd: 30_000, newStart: 0, newEnd: 30_000 }]);
  const changed = a.map((line, index) => (index % 100 === 50 ? `${line}!` : line));
  const edits = await diffLines(a, changed);
  expect(edits).toHaveLength(300);
  expect(patched(a, changed, edits)).toEqual(changed);
});
