import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { report } from '../../../../../testing/long-run.js';
import { Yielder } from '../../async/yielder.js';
import type { TextBytes } from '../read/text-bytes.js';
import { codecFor } from '../read/text-encoding.js';
import { findText } from './match.js';
import { applySplices, type Splice, spliceFor } from './splice.js';

const isLong = process.env['LATHE_LONG'] === '1';

async function textOf(content: string | Buffer, name = 'utf-8'): Promise<TextBytes> {
  const encoding = { name, bom: new Uint8Array() };
  const codec = await codecFor(encoding);
  const bytes = typeof content === 'string' ? codec.encode(content) : content;
  if (!bytes) throw new Error('not encodable');
  return { bytes, codec, encoding };
}

/** Replaces every match. The result is decoded when the file was given as text. */
async function edited(file: string, oldText: string, newText: string, name = 'utf-8') {
  const text = await textOf(file, name);
  const found = await findText(text, oldText, new Yielder());
  const splices = await Promise.all(found.matches.map((match) => spliceFor(text, match, found, { oldText, newText })));
  const content = text.codec.decode(Buffer.concat(applySplices(text.bytes, splices as Splice[])));
  return { content, relaxed: found.relaxed, count: found.matches.length };
}

// RW14 RW15 RW20
describe('a text that is there as given', () => {
  test.each([
    ['one word', 'a b c', 'b', 'X', 'a X c'],
    ['nothing of the neighbourhood is deleted', 'x = 1 # c\ny = 2\n', ' # c', '', 'x = 1\ny = 2\n'],
    ['a whole line with its break is deleted', 'a\nb\nc\n', 'b\n', '', 'a\nc\n'],
    ['dollar signs are text', 'a', 'a', "$& $1 $$ $` $' \\1 %s", "$& $1 $$ $` $' \\1 %s"],
    ['a needle with LF meets CRLF, and new lines follow', 'a\r\nb\r\nc\r\n', 'a\nb', 'a\nX\nb', 'a\r\nX\r\nb\r\nc\r\n'],
    ['a line added after the last one follows it', 'a\r\nb\r\n', 'b', 'b\nc', 'a\r\nb\r\nc\r\n'],
    [
      'mixed line endings outside stay, inside follow their neighbour',
      'a\nb\r\nc\nd',
      'b\nc',
      'b\nX\nc',
      'a\nb\r\nX\r\nc\nd',
    ],
    ['shared lines keep their own endings', 'a\r\nb\nc\r\nd', 'a\nb\nc\nd', 'a\nb\nX\nd', 'a\r\nb\nX\r\nd'],
    ['lone CR', 'a\rb\rc', 'a\nb', 'a\nX', 'a\rX\rc'],
    ['line endings can be changed on purpose', 'a\r\nb\r\n', 'a\r\nb', 'a\nb', 'a\nb\r\n'],
    ['a carriage return that is spelled out is written', 'a\nb\n', 'a\nb', 'a\r\nb', 'a\r\nb\n'],
    ['an empty line is removed', 'a\n\nb', '\n\n', '\n', 'a\nb'],
    ['a trailing newline of the new text is kept', 'a\nb', 'b', 'c\n', 'a\nc\n'],
    ['trailing whitespace of the new text is kept', 'a', 'a', 'b  \t', 'b  \t'],
    ['insertion before the first line', 'a\nb\n', 'a\n', 'X\na\n', 'X\na\nb\n'],
    ['everything is removed', 'abc', 'abc', '', ''],
    ['form feed, U+2028 and NUL are characters', 'a\fb\u2028c\0d', 'b\u2028c', 'X', 'a\fX\0d'],
  ])('%s', async (_, file, oldText, newText, expected) => {
    expect(await edited(file, oldText, newText)).toEqual({ content: expected, relaxed: [], count: 1 });
  });

  test('hits that overlap are all counted', async () => {
    const found = await findText(await textOf('aaa'), 'aa', new Yielder());
    expect(found.matches.map(({ lines }) => lines[0]?.start)).toEqual([0, 1]);
  });

  test('the same text with different line endings counts twice', async () => {
    expect((await findText(await textOf('a\nb a\r\nb'), 'a\nb', new Yielder())).matches).toHaveLength(2);
  });
});

// RW19 RW21
describe('a text that is there in another spelling', () => {
  test.each([
    ['typographic quotes', 'say(“hi”, 1)', 'say("hi", 1)', 'say("hi", 2)', 'say(“hi”, 2)', ['typographic characters']],
    [
      'an ellipsis and a dash',
      'wait… – now',
      'wait... - now',
      'wait... - later',
      'wait… – later',
      ['typographic characters'],
    ],
    [
      'trailing whitespace in the file',
      'if x:  \n  foo()\n',
      'if x:\n  foo()',
      'if x:\n  bar()',
      'if x:  \n  bar()\n',
      ['trailing whitespace'],
    ],
    ['trailing whitespace in the needle', 'a1\nb1\n', 'a1  \nb1', 'a1  \nc1', 'a1\nc1\n', ['trailing whitespace']],
    [
      'a decomposed letter',
      'le cafe\u0301 noir',
      'le caf\u00e9 noir',
      'le caf\u00e9 blanc',
      'le cafe\u0301 blanc',
      ['Unicode normal form'],
    ],
    [
      'more indentation in the file',
      '    if a:\n        b()\n',
      'if a:\n    b()\n',
      'if a:\n    c()\n',
      '    if a:\n        c()\n',
      ['indentation'],
    ],
    [
      'less indentation in the file',
      'if a:\n    b()\n',
      '  if a:\n      b()',
      '  if a:\n      c()',
      'if a:\n    c()\n',
      ['indentation'],
    ],
    [
      'tabs for spaces',
      '\tif a:\n\t\tb()\n',
      '    if a:\n        b()',
      '    if a:\n        c()',
      '\tif a:\n\t\tc()\n',
      ['indentation'],
    ],
    [
      'lines between two changes, of which a blank one has a tab',
      'a()\n\t\nsay(“hi”)  \nb()\n',
      'a()\n    \nsay("hi")\nb()',
      'x()\n    \nsay("hi")\nnew()\ny()',
      'x()\n\t\nsay(“hi”)  \nnew()\ny()\n',
      ['trailing whitespace', 'typographic characters'],
    ],
    [
      'a blank line with a tab, where the indentation differs',
      '\tif a:\n\t\tb()\n\t\n\t\tc()\n',
      '    if a:\n        b()\n    \n        c()',
      '    if a:\n        x()\n    \n        y()',
      '\tif a:\n\t\tx()\n\t\n\t\ty()\n',
      ['indentation'],
    ],
    ['the last line break', 'a\nlast', 'last\n', 'end\n', 'a\nend', ['the missing line break at the end of the file']],
  ])('%s', async (_, file, oldText, newText, expected, relaxed) => {
    expect(await edited(file, oldText, newText)).toEqual({ content: expected, relaxed, count: 1 });
  });

  test('several hits are all reported', async () => {
    expect((await findText(await textOf('x = “a”\ny\nx = “a”\n'), 'x = "a"', new Yielder())).matches).toHaveLength(2);
  });

  test.each([
    ['indentation that is not uniform', '  if a:\n     b()\n', 'if a:\n  b()'],
    ['other words', 'alpha', 'beta'],
    ['whitespace inside a line', 'a  b', 'a b'],
    ['a needle of quotes only', '“', '"'],
    ['a line with invalid bytes', Buffer.from([0x61, 0xff, 0xe2, 0x80, 0x9c, 0x62, 0x63]), '"bc'],
  ])('%s does not match', async (_, file, oldText) => {
    expect((await findText(await textOf(file), oldText, new Yielder())).matches).toEqual([]);
  });
});

test('a byte sequence across two characters is not a match', async () => {
  // In Shift_JIS the second byte of ソ is a backslash; in GB18030 digits stand inside four-byte characters.
  expect((await findText(await textOf('ソ', 'shift_jis'), '\\', new Yielder())).matches).toEqual([]);
  expect(
    (await findText(await textOf('中文', 'gb18030'), Buffer.from([0xd0, 0xce]).toString('latin1'), new Yielder()))
      .matches,
  ).toEqual([]);
  expect((await findText(await textOf('\u0141\u4100', 'utf-16le'), '\u0001', new Yielder())).matches).toEqual([]);
});

test('a character that the encoding lacks gives no splice', async () => {
  const text = await textOf('caf\u00e9', 'windows-1252');
  const found = await findText(text, 'caf', new Yielder());
  const [match] = found.matches;
  expect(match && (await spliceFor(text, match, found, { oldText: 'caf', newText: '中' }))).toBeUndefined();
});

/** Words that need every encoding's attention, without anything a relaxed comparison would fold. */
const words: Record<string, string[]> = {
  'utf-8': ['alpha', 'β', '中文', '🎉', 'x', ' ', '\t', '=', 'é', '  '],
  'utf-16le': ['alpha', 'β', '中文', '🎉', 'x', ' ', '\u0a0d', '\u0d0a', '='],
  'utf-16be': ['alpha', 'β', '中文', '🎉', 'x', ' ', '\u0a0d', '\u0d0a', '='],
  'utf-32le': ['alpha', '中文', '🎉', 'x', ' '],
  gb18030: ['alpha', '中文', '繁體', '🎉', 'x', ' ', '\u0100'],
  big5: ['alpha', '中文', '功能', 'x', ' '],
  shift_jis: ['alpha', 'ソース', '表示', 'x', ' '],
  'euc-jp': ['alpha', 'ソース', '表示', 'x', ' '],
  'windows-1252': ['alpha', 'é', 'ß', 'x', ' '],
};

// A lone CR before a lone LF would read as one CRLF once the line between them is empty, so they are not mixed.
const style = fc.record({
  encoding: fc.constantFrom(...Object.keys(words)),
  gaps: fc.constantFrom(['\n', '\r\n'], ['\n', '\r\n'], ['\r'], ['\r\n'], ['\n']),
});

const file = style.chain(({ encoding, gaps }) => {
  const line = fc.array(fc.constantFrom(...(words[encoding] ?? [])), { maxLength: 6 }).map((parts) => parts.join(''));
  const row = fc.record({
    line,
    gap: fc.constantFrom(...gaps),
    /** Bytes that mean nothing, at the end of a line outside the edit. */
    damage: fc.uint8Array({ min: 0x80, max: 0xfe, maxLength: 3 }),
  });
  return fc.record({
    encoding: fc.constant(encoding),
    rows: fc.array(row, { minLength: 1, maxLength: 30 }),
    from: fc.nat(),
    count: fc.integer({ min: 1, max: 4 }),
    newLines: fc.array(line, { minLength: 1, maxLength: 4 }),
  });
});

// RW14 RW15 RW16 RW17
test(`bytes outside an edit never change (${isLong ? '10,000' : '1,000'} random files and edits)`, async () => {
  let edits = 0;
  const property = fc.asyncProperty(file, async ({ encoding, rows, from, count, newLines }) => {
    const kind = { name: encoding, bom: new Uint8Array() };
    const codec = await codecFor(kind);
    const encode = (text: string) => codec.encode(text) ?? Buffer.from('?');
    const first = from % rows.length;
    const last = Math.min(first + count, rows.length) - 1;
    const isOutside = (index: number) => index < first - 1 || index > last;
    const bytesOf = ({ line, gap, damage }: (typeof rows)[number], index: number) =>
      Buffer.concat([
        encode(line),
        ...(isOutside(index) && codec.unit === 1 && !codec.ambiguous ? [damage] : []),
        encode(gap),
      ]);
    const before = Buffer.concat(rows.slice(0, first).map(bytesOf));
    const wanted = rows.slice(first, last + 1);
    const ending = encode(rows[last]?.gap ?? '');
    const after = Buffer.concat([ending, ...rows.slice(last + 1).map((row, index) => bytesOf(row, last + 1 + index))]);
    const text = { bytes: Buffer.concat([before, encode(joined(wanted)), after]), codec, encoding: kind };

    const oldText = wanted.map(({ line }) => line).join('\n');
    const newText = newLines.join('\n');
    const found = await findText(text, oldText, new Yielder());
    const match = found.matches.find(({ lines }) => lines[0]?.start === before.length);
    if (oldText === '') return;
    expect(match, 'the text that was put there is found').toBeDefined();
    const splice = match && (await spliceFor(text, match, found, { oldText, newText }));
    if (!splice) return;
    const result = Buffer.concat(applySplices(text.bytes, [splice]));
    const middle = result.subarray(before.length, result.length - after.length);
    expect(result.subarray(0, before.length).equals(before)).toBe(true);
    expect(result.subarray(result.length - after.length).equals(after)).toBe(true);
    expect(codec.decode(middle).split(/\r\n|\n|\r/)).toEqual(newLines);
    edits++;
  });
  await fc.assert(property, { numRuns: isLong ? 11_000 : 1000 });
  report('edits of random files in which every byte outside the edit was compared', edits);
  expect(edits).toBeGreaterThan(isLong ? 10_000 : 700);
});

function joined(rows: readonly { line: string; gap: string }[]): string {
  return rows.map(({ line, gap }, index) => (index === rows.length - 1 ? line : line + gap)).join('');
}
