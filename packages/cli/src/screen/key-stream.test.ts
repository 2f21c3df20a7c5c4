import fc from 'fast-check';
import { expect, test } from 'vitest';
import { KeySplitter, pastedText, pastePrefix } from './key-stream.js';

const split = (...chunks: string[]) => {
  const splitter = new KeySplitter();
  return chunks.flatMap((chunk) => splitter.split(chunk));
};

test.each([
  [['hello\r'], ['hello', '\r']],
  [
    ['a', 'b'],
    ['a', 'b'],
  ],
  [['\u001b[A'], ['\u001b[A']],
  [['\u001b[200~one\r\ntwo\r\u001b[201~\r'], [`${pastePrefix}one\ntwo\n`, '\r']],
  [
    ['x\u001b[200~y', 'y\u001b[20', '1~z'],
    ['x', `${pastePrefix}yy`, 'z'],
  ],
  [['\u0003\u0003'], ['\u0003', '\u0003']],
  [
    ['a\u001b[20', '0~b\u001b[201~c'],
    ['a', `${pastePrefix}b`, 'c'],
  ],
  [['x\u007f'], ['x', '\b']],
])('%j', (chunks, keys) => {
  expect(split(...chunks)).toEqual(keys);
});

test('a paste that arrives in pieces is one item and not a key', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme', maxLength: 60 }),
      fc.array(fc.nat(80), { maxLength: 6 }),
      (text, cuts) => {
        const pasted = text.replaceAll('\u001b', '').replace(/[\uE000\uE001]/g, '');
        const sent = `\u001b[200~${pasted}\u001b[201~`;
        // The opening marker always arrives in one piece, because terminals write it with the text.
        const places = [...new Set([0, ...cuts.map((cut) => 6 + (cut % (sent.length - 5))), sent.length])].sort(
          (a, b) => a - b,
        );
        const chunks = places.slice(1).map((end, index) => sent.slice(places[index], end));
        expect(split(...chunks)).toEqual([pastePrefix + pasted.replaceAll('\r\n', '\n').replaceAll('\r', '\n')]);
      },
    ),
  );
});

test('SF06 a paste that contains key sequences is one item with its full text', () => {
  const [paste, ...keys] = split('\u001b[200~a\u001b\ry\u001b[A\u001b[201~');
  expect(keys).toEqual([]);
  expect(paste).not.toContain('\u001b');
  expect(pastedText(paste ?? '')).toBe('a\u001b\ny\u001b[A');
  expect(pastedText('y')).toBeUndefined();
});

test.each([
  ['at once', ['a\u001b]11;rgb:ffff/ffff/ffff\u001b\\\u001b[?62;22cb']],
  ['in pieces', ['a\u001b]11;rgb:ff', 'ff/ffff/ffff\u001b', '\\\u001b[?62;22cb']],
])('a late answer of the terminal about itself is not a key, also when it arrives %s', (_, data) => {
  const splitter = new KeySplitter();
  expect(data.flatMap((each) => splitter.split(each)).join('')).toBe('ab');
});
