import { expect, test } from 'vitest';
import { LongPastes } from './long-pastes.js';

test('a long paste is a placeholder in the prompt and sent in full', () => {
  const pastes = new LongPastes();
  expect(pastes.add('two\nlines')).toBe('two\nlines');
  const lines = 'line\n'.repeat(10_000);
  expect(pastes.add(lines)).toBe('[paste #1 10,000 lines]');
  const long = 'x'.repeat(3_000);
  expect(pastes.add(long)).toBe('[paste #2 3,000 characters]');
  const text = 'see [paste #1 10,000 lines], then [paste #2 3,000 characters] and [paste #3 9 lines]';
  expect(pastes.expand(text)).toBe(`see ${lines}, then ${long} and [paste #3 9 lines]`);
});

test('a placeholder inside a paste is not expanded', () => {
  const pastes = new LongPastes();
  const outer = `[paste #1 11 lines]\n${'x\n'.repeat(10)}`;
  expect(pastes.expand(pastes.add(outer))).toBe(outer);
});
