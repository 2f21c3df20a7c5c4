import { expect, test } from 'vitest';
import { LineBuffer } from './line-buffer.js';

const bytes = (text: string) => Buffer.from(text);

test('a line that arrives in pieces, split inside a character, is joined', () => {
  const line = new LineBuffer(100);
  const whole = bytes('{"a":"ä€😀"}');
  for (const byte of whole) expect(line.append(Buffer.from([byte]))).toBe(true);
  expect(line.take()).toBe('{"a":"ä€😀"}');
  expect(line.isEmpty).toBe(true);
  line.append(bytes('{}'));
  expect(line.take()).toBe('{}');
});

test('a line of the maximum length is kept, and one byte more empties the buffer', () => {
  const line = new LineBuffer(1_000_000);
  const most = `{${'x'.repeat(999_999)}`;
  expect(line.append(bytes(most))).toBe(true);
  expect(line.take()).toBe(most);
  line.append(bytes(most));
  expect(line.append(bytes('y'))).toBe(false);
  expect(line.isEmpty).toBe(true);
});

test('a line that cannot become a message is counted and not kept', () => {
  const line = new LineBuffer(10);
  expect(line.append(bytes('starting'))).toBe(true);
  expect(line.append(bytes('{}'))).toBe(true);
  expect(line.isEmpty).toBe(false);
  expect(line.take()).not.toContain('{');
  line.append(bytes('{}'));
  expect(line.take()).toBe('{}');
  line.append(bytes('starting'));
  expect(line.append(bytes('again'))).toBe(false);
});

test('lines are found wherever the chunks are split, and may begin with white space', () => {
  const text = ' {"a":1}\n\n{"b":"ä"}\nnoise\n\t{"c":3}\n{"d"';
  const whole = ['{"a":1}', '', '{"b":"ä"}', 'noise', '{"c":3}'];
  for (const size of [1, 2, 3, 7, 1_000]) {
    const line = new LineBuffer(100);
    const lines: (string | undefined)[] = [];
    for (let at = 0; at < bytes(text).length; at += size)
      lines.push(...line.linesWith(bytes(text).subarray(at, at + size)));
    expect(lines.map((found) => found?.trim().replace('…', 'noise'))).toEqual(whole);
    expect(line.take()).toBe('{"d"');
  }
});

test('a line that is too long is reported, complete or not', () => {
  const line = new LineBuffer(10);
  expect([...line.linesWith(bytes('{'.repeat(11)))]).toEqual([undefined]);
  expect([...line.linesWith(bytes('{'.repeat(9)))]).toEqual([]);
  expect([...line.linesWith(bytes('{{\n{}\n'))]).toEqual([undefined, '{}']);
});
