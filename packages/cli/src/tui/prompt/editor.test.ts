import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Edit, type EditorState, edit, emptyEditor, isOnFirstLine, isOnLastLine } from './editor.js';

/** `|` marks the cursor. */
const at = (marked: string): EditorState => ({ text: marked.replace('|', ''), cursor: marked.indexOf('|') });
const show = ({ text, cursor }: EditorState) => `${text.slice(0, cursor)}|${text.slice(cursor)}`;

test.each<[string, Edit, string]>([
  ['a|c', { type: 'insert', text: 'b\n' }, 'ab\n|c'],
  ['a👍🏽|', { type: 'left' }, 'a|👍🏽'],
  ['|é!', { type: 'right' }, 'é|!'],
  ['one two |', { type: 'word-left' }, 'one |two '],
  ['one| two', { type: 'word-right' }, 'one two|'],
  ['a\nbc|d', { type: 'home' }, 'a\n|bcd'],
  ['a|b\nc', { type: 'end' }, 'ab|\nc'],
  ['abc\nd|e', { type: 'up' }, 'a|bc\nde'],
  ['ab|c\nd', { type: 'down' }, 'abc\nd|'],
  ['a|b', { type: 'up' }, 'a|b'],
  ['a|b', { type: 'down' }, 'a|b'],
  ['a👨‍👩‍👧|b', { type: 'backspace' }, 'a|b'],
  ['|ab', { type: 'backspace' }, '|ab'],
  ['a [paste #1 10,000 lines]|b', { type: 'backspace' }, 'a |b'],
  ['a |[paste #1 10,000 lines]b', { type: 'delete' }, 'a |b'],
  ['a |[paste #1 10,000 lines]b', { type: 'right' }, 'a [paste #1 10,000 lines]|b'],
  ['a [paste]|', { type: 'backspace' }, 'a [paste|'],
  ['a|b', { type: 'delete' }, 'a|'],
  ['one two|x', { type: 'delete-word' }, 'one |x'],
  ['a\nbc|d', { type: 'delete-to-start' }, 'a\n|d'],
  ['a|bc\nd', { type: 'delete-to-end' }, 'a|\nd'],
  ['abc|', { type: 'clear' }, '|'],
])('%s after %j is %s', (before, change, expected) => {
  expect(show(edit(at(before), change))).toBe(expected);
});

test('the cursor stays inside the text after any edits', () => {
  const change = fc.oneof(
    fc.record({ type: fc.constant('insert' as const), text: fc.string({ unit: 'grapheme', maxLength: 5 }) }),
    fc.record({
      type: fc.constantFrom(
        'left',
        'right',
        'word-left',
        'word-right',
        'home',
        'end',
        'up',
        'down',
        'backspace',
        'delete',
        'delete-word',
        'delete-to-start',
        'delete-to-end',
      ),
    }),
  ) as fc.Arbitrary<Edit>;
  fc.assert(
    fc.property(fc.array(change, { maxLength: 40 }), (changes) => {
      const end = changes.reduce(edit, emptyEditor);
      expect(end.cursor).toBeGreaterThanOrEqual(0);
      expect(end.cursor).toBeLessThanOrEqual(end.text.length);
      const row = end.text.slice(0, end.cursor).split('\n').length;
      expect([isOnFirstLine(end), isOnLastLine(end)]).toEqual([row === 1, row === end.text.split('\n').length]);
    }),
  );
});
