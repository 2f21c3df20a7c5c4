import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { pdf } from '../../../../../testing/pdf.js';
import { tempDirectory } from '../../../../../testing/temp-directory.js';
import { withReadableFile } from '../open-file.js';
import { parsePages, readPdfText } from './pdf-text.js';

const signal = new AbortController().signal;

const readPages = (content: string | Uint8Array, pages: { first: number; last: number }, stop = signal) => {
  const path = join(tempDirectory(), 'a.pdf');
  writeFileSync(path, content);
  return withReadableFile(path, (file) => readPdfText(file, pages, stop));
};

test('the text of the pages asked for', async () => {
  const text = await readPages(pdf(['One', 'Two', 'Three']), { first: 2, last: 9 });
  expect(text).toBe('[page 2 of 3]\nTwo\n\n[page 3 of 3]\nThree\n');
});

test('a page past the end says how many there are', async () => {
  await expect(readPages(pdf(['One']), { first: 2, last: 2 })).rejects.toMatchObject({
    type: 'invalid_tool_params',
    message: expect.stringContaining('has 1 pages'),
  });
});

test('a damaged PDF is an error in words', async () => {
  await expect(readPages('%PDF-1.4 nothing', { first: 1, last: 1 })).rejects.toMatchObject({
    type: 'read_content_failure',
  });
});

test('parsing ends when the call is aborted', async () => {
  const stop = new AbortController();
  const reading = readPages(
    pdf(Array.from({ length: 2000 }, (_, index) => `Page ${index}`)),
    { first: 1, last: 20 },
    stop.signal,
  );
  setTimeout(() => stop.abort(), 20);
  await expect(reading).rejects.toMatchObject({ name: 'AbortError' });
});

test.each([
  ['3', { first: 3, last: 3 }],
  [' 1 - 10 ', { first: 1, last: 10 }],
  ['1-20', { first: 1, last: 20 }],
  ['1-21', undefined],
  ['5-', undefined],
  ['0', undefined],
  ['9-3', undefined],
  ['', undefined],
  ['all', undefined],
])('pages %j', (pages, expected) => {
  expect(parsePages(pages)).toEqual(expected);
});
