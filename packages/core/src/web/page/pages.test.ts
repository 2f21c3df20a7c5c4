import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { never } from '../../../../../testing/web-server.js';
import { Yielder } from '../../async/yielder.js';
import { charsetOf, decodeText, readPage } from './read-page.js';

/**
 * Pages of many shapes. In each of them, words that begin with KEEP are its content and must survive; words that begin
 * with CHROME surround the content or are hidden in it and must be removed.
 */
const directory = join(import.meta.dirname, '../../../../../testing/pages');
const pages = readdirSync(directory).filter((file) => file.endsWith('.html'));

test('there are at least thirty pages', () => {
  expect(pages.length).toBeGreaterThanOrEqual(30);
});

// SI10
test.each(pages)('%s keeps its content and loses its chrome', async (file) => {
  const bytes = readFileSync(join(directory, file));
  const answer = {
    url: new URL(`https://example.com/docs/a/${file}`),
    contentType: 'text/html',
    body: { bytes, isCut: false },
  };
  const { title, content, notes } = await readPage(answer, never);
  const text = content.type === 'text' ? content.text : '';
  const html = await decodeText(bytes, await charsetOf(bytes, ''), new Yielder());
  const wanted = [...new Set(html.replace(/<title>.*<\/title>/, '').match(/KEEP[\p{L}\p{M}\d]*/gu) ?? [])];
  expect(wanted.filter((word) => !text.includes(word))).toEqual([]);
  expect(text.match(/CHROME\w*/g) ?? []).toEqual([]);
  const shown = [`title: ${title}`, ...notes, '', text, ''].join('\n');
  await expect(shown).toMatchFileSnapshot(join(directory, file.replace('.html', '.md')));
});
