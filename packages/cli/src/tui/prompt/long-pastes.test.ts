import { expect, test } from 'vitest';
import { Pastes } from './long-pastes.js';

test('a long paste is a mark in the prompt and whole in what is sent', () => {
  const pastes = new Pastes();
  expect(pastes.keep('two\nlines')).toBe('two\nlines');
  const lines = 'line\n'.repeat(10_000);
  expect(pastes.keep(lines)).toBe('[paste #1 10,000 lines]');
  const long = 'x'.repeat(3_000);
  expect(pastes.keep(long)).toBe('[paste #2 3,000 characters]');
  const text = 'see [paste #1 10,000 lines], then [paste #2 3,000 characters] and [paste #3 9 lines]';
  expect(pastes.expand(text)).toBe(`see ${lines}, then ${long} and [paste #3 9 lines]`);
});

test('what a paste contains is not expanded again', () => {
  const pastes = new Pastes();
  const outer = `[paste #1 11 lines]\n${'x\n'.repeat(10)}`;
  expect(pastes.expand(pastes.keep(outer))).toBe(outer);
});
