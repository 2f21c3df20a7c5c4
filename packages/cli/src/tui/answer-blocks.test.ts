import fc from 'fast-check';
import { expect, test } from 'vitest';
import { answerBlocks } from './answer-blocks.js';

test.each([
  ['', '', ''],
  ['one line', '', 'one line'],
  ['one\n\ntw', '', 'one\n\ntw'],
  ['one\n\ntwo\n', 'one\n\n', 'two\n'],
  ['- a\n\n  more of a\n', '', '- a\n\n  more of a\n'],
  ['```js\na\n\nb\n', '', '```js\na\n\nb\n'],
  ['```js\na\n\nb\n```\n\nnext\n', '```js\na\n\nb\n```\n\n', 'next\n'],
  ['````\n```\n\nstill code\n', '', '````\n```\n\nstill code\n'],
])('%j', (text, complete, growing) => {
  expect(answerBlocks(text)).toEqual({ complete, growing });
});

test('no text is lost, and complete blocks stay complete', () => {
  const piece = fc.constantFrom('a', '\n', '\n\n', '```', ' ', '- x', '# t', '~~~\n');
  fc.assert(
    fc.property(fc.array(piece), fc.array(piece), (before, after) => {
      const [first, all] = [before.join(''), [...before, ...after].join('')];
      const { complete, growing } = answerBlocks(first);
      expect(complete + growing).toBe(first);
      expect(answerBlocks(all).complete.startsWith(complete)).toBe(true);
    }),
  );
});
