import { visibleText } from '@lathe/core';
import fc from 'fast-check';
import stringWidth from 'string-width';
import { expect, test } from 'vitest';
import { renderDiff } from './diff.js';
import { renderMarkdown } from './markdown.js';
import { styleFor } from './style.js';

const plain = styleFor({ NO_COLOR: '1' });
const coloured = styleFor({});

test.each([
  ['# Title', '# Title'],
  ['a **b** *c* `d`', 'a b c d'],
  ['- one\n- two\n  - deep', '• one\n• two\n  • deep'],
  ['3. x\n4. y', '3. x\n4. y'],
  ['- [x] done\n- [ ] open', '• [x] done\n• [ ] open'],
  ['```js\nlet a;\n```', 'js\n  let a;'],
  ['> quoted', '│ quoted'],
  ['[label](https://x.org)', 'label (https://x.org)'],
  ['<https://x.org>', 'https://x.org'],
  ['![alt](a.png)', '[image: alt] (a.png)'],
  ['| a | b |\n|---|---|\n| 1 | 漢字 |', 'a │ b   \n──┼─────\n1 │ 漢字'],
  ['one\n\ntwo', 'one\n\ntwo'],
])('%j', (text, expected) => {
  expect(renderMarkdown(text, 80, plain)).toBe(expected);
});

test('a table that is too wide becomes one block per row', () => {
  expect(renderMarkdown('| name | about |\n|---|---|\n| x | a rather long text here |', 20, plain)).toBe(
    'name: x\nabout: a rather long\ntext here',
  );
});

test('lines fit the width, wide characters included', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), fc.integer({ min: 20, max: 100 }), (text, width) => {
      const lines = renderMarkdown(visibleText(text).replaceAll(/[`|>#\-*+\n\t]/g, ' '), width, plain).split('\n');
      for (const line of lines) expect(stringWidth(line)).toBeLessThanOrEqual(width);
    }),
  );
});

test('no control sequence comes through but our own', () => {
  // oxlint-disable-next-line no-control-regex -- control characters are what this is about
  const foreign = /\u001b(?!\[[0-9;]{1,8}m)|[\u0000-\u0008\u000b-\u001a\u001c-\u001f\u007f-\u009f]/;
  const hostile = fc.array(
    fc.oneof(
      fc.constantFrom(
        '\u001b[2J',
        '\u001b]0;x\u0007',
        '\u009b1m',
        '\u202e',
        '\r',
        '```',
        '**',
        '[a](b)',
        '\n',
        '| a |\n|---|\n| b |',
        '- ',
        '# ',
      ),
      fc.string({ unit: 'binary', maxLength: 8 }),
    ),
    { maxLength: 12 },
  );
  fc.assert(
    fc.property(hostile, (pieces) => {
      const text = pieces.join('');
      expect(renderMarkdown(visibleText(text), 40, coloured)).not.toMatch(foreign);
      expect(renderDiff(text, coloured)).not.toMatch(foreign);
    }),
    { numRuns: 3000 },
  );
});

test('a diff shows blanks and tabs that changed, and says what it leaves out', () => {
  expect(renderDiff('--- a\n+++ b\n@@ -1 +1 @@\n-a  \n+\ta\n c\n', plain)).toBe(
    '--- a\n+++ b\n@@ -1 +1 @@\n-a··\n+→\ta\n c',
  );
  expect(renderDiff('a\nb\nc\nd', plain, { maxLines: 2 })).toBe('a\nb\n… 2 more lines');
});
