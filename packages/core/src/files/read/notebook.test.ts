import { expect, test } from 'vitest';
import { renderNotebook } from './notebook.js';

const png = `iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==`;

test('cells come with their outputs, images as images, errors without colours', () => {
  const notebook = {
    cells: [
      { cell_type: 'markdown', source: ['# Title\n', 'text'] },
      {
        cell_type: 'code',
        source: 'plot()',
        outputs: [
          { output_type: 'stream', text: ['one\n', 'two\n'] },
          { output_type: 'display_data', data: { 'text/plain': '<Figure>', 'image/png': `${png}\n` } },
          { output_type: 'error', traceback: ['\u001b[31mValueError\u001b[0m: no'] },
        ],
      },
    ],
  };
  expect(renderNotebook(JSON.stringify(notebook), 1000)).toEqual([
    '[1] markdown cell\n# Title\ntext\n\n[2] code cell\nplot()\n\n[2] output\none\ntwo\n\n\n[2] output\n<Figure>\n\n',
    { inlineData: { mimeType: 'image/png', data: png } },
    '[2] output\nValueError: no\n\n\n',
  ]);
});

test('a damaged image is left out', () => {
  const outputs = [{ data: { 'image/png': 'AAAA' } }];
  expect(renderNotebook(JSON.stringify({ cells: [{ cell_type: 'code', source: 'x', outputs }] }), 1000)).toEqual([
    '[1] code cell\nx\n\n',
  ]);
});

test('what does not fit is named', () => {
  const cells = Array.from({ length: 10 }, () => ({ cell_type: 'code', source: 'x'.repeat(50) }));
  const [text] = renderNotebook(JSON.stringify({ cells }), 200) ?? [];
  expect(text).toMatch(/^\[1\] code cell\nx{50}\n\n\[2\][^]*\[3\][^]*\[More follows/);
});

test.each(['', '{', '[]', 'null', '{"cells":{}}'])('%j is not a notebook', (json) => {
  expect(renderNotebook(json, 1000)).toBeUndefined();
});

test.each([
  ['cells of the wrong type', { cells: [null, 3, 'x', [], { source: 7, outputs: 'no' }] }],
  ['outputs of the wrong type', { cells: [{ source: {}, outputs: [null, { data: 3 }, { text: { a: 1 } }] }] }],
])('%s do no harm', (_, notebook) => {
  expect(renderNotebook(JSON.stringify(notebook), 1000)?.length).toBe(1);
});

// SJ06
test('a notebook nested a hundred thousand deep is answered', () => {
  const deep = '['.repeat(100_000) + ']'.repeat(100_000);
  expect(renderNotebook(`{"cells":[{"source":"x","outputs":${deep}}]}`, 1000)).toEqual(['[1]  cell\nx\n\n']);
});
