import { visibleText } from '@lathe/core/host';
import fc from 'fast-check';
import stringWidth from 'string-width';
import { expect, test } from 'vitest';
import { renderDiff } from './diff.js';
import { renderItem } from './history-item.js';
import { renderMarkdown } from './markdown.js';
import { styleFor } from './style.js';

const plain = styleFor({ NO_COLOR: '1' });
const coloured = styleFor({ TERM: 'xterm-256color' });

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

test('all lines of a warning begin below its text', () => {
  const context = {
    style: plain,
    width: 20,
    markdown: (text: string) => text,
    isScreenReader: false,
    toolName: String,
  };
  const text = 'The server ended.\nIt said: no module of this name';
  expect(renderItem({ type: 'notice', level: 'warning', text }, context)).toBe(
    '! The server ended.\n  It said: no module\n  of this name',
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

const diff = (text: string, options = {}) => renderDiff(text, plain, { width: 40, ...options });

test('a diff has line numbers, markers, and visible trailing spaces and tabs', () => {
  expect(diff('--- a\n+++ b\n@@ -9 +9,2 @@\n-a  \n+\ta\n+--- x\n c\n\\ No newline at end of file\n')).toBe(
    ' 9 - a··\n 9 + →    a\n10 + --- x\n11   c\n\\ No newline at end of file',
  );
});

test('a diff shows omitted lines, gaps between hunks and new files', () => {
  const two = '@@ -1 +1 @@\n-a\n+b\n@@ -9 +9 @@\n-c\n+d\n';
  expect(diff(two)).toBe('1 - a\n1 + b\n⋮\n9 - c\n9 + d');
  expect(diff(two, { maxLines: 2 })).toBe('1 - a\n1 + b\n… 3 more lines');
  expect(diff('--- /dev/null\n+++ b\n@@ -0,0 +1 @@\n+x\n')).toBe('new file\n1 + x');
});

test('a long diff line wraps under itself, and long padding is replaced by a note', () => {
  expect(diff(`@@ -1 +1 @@\n+${'word '.repeat(6)}end\n`, { width: 22 })).toBe(
    '1 + word word word \n    word word word end',
  );
  // The space at the break does not move the next line.
  expect(diff(`@@ -1 +1 @@\n+${'word '.repeat(6)}end\n`, { width: 23 })).toBe(
    '1 + word word word word\n    word word end',
  );
  expect(diff(`@@ -1 +1 @@\n+x${' '.repeat(500)}; rm\n`)).toBe('1 + x ⟨500 whitespace characters⟩ ; rm');
});

test('the changed part of a replaced line is highlighted', () => {
  expect(renderDiff('@@ -1 +1 @@\n-let i = 1;\n+let i = 0;\n', coloured, { width: 40 })).toContain(
    '\u001b[48;5;28m0\u001b[49m',
  );
});
