import { readFileSync, statSync } from 'node:fs';
import { expect, test } from 'vitest';
import { tempDirectory } from '../../../../../testing/temp-directory.js';
import { CapturedOutput, type CaptureOptions } from './captured-output.js';

function capture(options: Partial<CaptureOptions> = {}): CapturedOutput {
  const directory = tempDirectory();
  return new CapturedOutput({ directory, maxBytes: 1_000_000, from: 'overflow', ...options });
}

// RS05
test('a character split over chunks is decoded once, an invalid byte becomes one replacement', () => {
  const output = capture();
  for (const byte of Buffer.from('größe 漢字 😀')) output.push(Uint8Array.of(byte));
  output.push(Uint8Array.of(0xff, 0x21));
  expect(output.text()).toBe('größe 漢字 😀\ufffd!');
});

test('head and tail are cut between characters', () => {
  const output = capture();
  for (let i = 0; i < 20_000; i++) output.push(Buffer.from('漢'));
  output.close();
  expect(output.text()).toMatch(/^漢+\n\[… \d+ bytes left out …\]\n漢+$/);
  expect(output.tailText(100)).toMatch(/^漢{33}$/);
});

test('small output touches no disk', () => {
  const output = capture();
  output.push(Buffer.from('x'.repeat(28_000)));
  output.close();
  expect(output.path).toBeUndefined();
  expect(output.isCut).toBe(false);
});

test('large output goes to a private file, complete and in order', () => {
  const output = capture();
  const chunks = Array.from({ length: 500 }, (_, index) => Buffer.from(`${index} ${'x'.repeat(200)}\n`));
  for (const chunk of chunks) output.push(chunk);
  output.close();
  expect(readFileSync(output.path ?? '')).toEqual(Buffer.concat(chunks));
  expect(statSync(output.path ?? '').mode & 0o777).toBe(0o600);
  expect(output.isComplete).toBe(true);
});

test('the file stops at its limit and reports it, the tail continues', () => {
  const output = capture({ maxBytes: 50_000 });
  for (let i = 0; i < 100; i++) output.push(Buffer.from('y'.repeat(1_000)));
  output.push(Buffer.from('the end'));
  output.close();
  expect(statSync(output.path ?? '').size).toBe(50_000);
  expect(output.isComplete).toBe(false);
  expect(output.text().endsWith('the end')).toBe(true);
});

test('if the disk fails, the file is lost and the command continues', () => {
  const output = capture({ directory: '/no/such/directory', from: 'start' });
  output.push(Buffer.from('kept in memory'));
  output.close();
  expect(output.text()).toBe('kept in memory');
  expect(output.path).toBeUndefined();
});

// RS05
test('a stream with NUL bytes is binary', () => {
  const output = capture();
  output.push(Uint8Array.of(0x7f, 0x45, 0x4c, 0x46, 0, 0));
  expect(output.isBinary).toBe(true);
});
