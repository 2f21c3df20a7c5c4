import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tempDirectory } from '../../../../../testing/temp-directory.js';
import { toBytePath } from '../byte-path.js';
import { IgnoreRules } from '../ignore/ignore-rules.js';
import { Ripgrep } from '../search/ripgrep.js';
import { searchText } from '../search/search-text.js';

async function shown(line: string, encode: (text: string) => string | Buffer = String) {
  const root = tempDirectory();
  writeFileSync(join(root, 'a'), encode(`first\n${line}`));
  const { files } = await searchText(new Ripgrep(), {
    pattern: 'foo',
    letters: 'exact',
    context: 0,
    path: toBytePath(join(root, 'a')),
    kind: 'file',
    limit: 10,
    timeoutMs: 60_000,
    rules: new IgnoreRules([root]),
    signal: new AbortController().signal,
  });
  return files[0]?.lines[0]?.text();
}

const a = (count: number) => 'a'.repeat(count);

test.each(['\n', '\r\n', ''])('what is cut away is marked, and nothing else, before the line end %j', async (end) => {
  for (const [before, after, expected] of [
    [0, 317, `foo${a(317)}`],
    [0, 318, `foo${a(317)}…`],
    [400, 0, `…${a(100)}foo`],
    [400, 217, `…${a(100)}foo${a(217)}`],
    [400, 218, `…${a(100)}foo${a(217)}…`],
    [680, 317, `…${a(100)}foo${a(217)}…`],
    [778, 217, `…${a(100)}foo${a(217)}`],
    [779, 217, `…${a(100)}foo${a(217)}`],
    [780, 217, `…${a(100)}foo${a(217)}`],
    [781, 217, `…${a(100)}foo${a(217)}`],
    [3000, 0, `…${a(100)}foo`],
    [3000, 217, `…${a(100)}foo${a(217)}`],
    [3000, 218, `…${a(100)}foo${a(217)}…`],
  ] as const)
    expect([before, after, await shown(`${a(before)}foo${a(after)}${end}`)]).toEqual([before, after, expected]);
});

const encodings: Record<string, (text: string) => Buffer> = {
  'UTF-8 with a mark': (text) => Buffer.from(`\uFEFF${text}`),
  'UTF-16': (text) => Buffer.from(`\uFEFF${text}`, 'utf16le'),
  'UTF-16 with the higher byte first': (text) => Buffer.from(`\uFEFF${text}`, 'utf16le').swap16(),
};

test.each(Object.entries(encodings))('a line in %s is cut around its match', async (_, encode) => {
  const expected = `…${a(100)}foo${a(217)}…`;
  for (const before of [900, 5000, 131_060, 131_065, 131_070, 300_000])
    expect([before, await shown(`é€😀${a(before)}foo${a(300)}\n`, encode)]).toEqual([before, expected]);
  expect(await shown(`${'😀'.repeat(70_000)}foo\r\nx`, encode)).toBe(`…${'😀'.repeat(25)}foo`);
});

test('so far into recoded text that it would take long, the start is shown, and where the match is', async () => {
  const text = await shown(`${a(3_000_000)}foo`, encodings['UTF-16']);
  expect(text).toBe(`${a(320)}… (match at byte 3000001)`);
});
