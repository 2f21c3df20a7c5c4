import { parse } from 'parse5';
import { htmlToMarkdown } from '../../packages/core/dist/web/page/read-page.js';
import { group } from '../case.mjs';

const base = new URL('https://example.com/');
const never = new AbortController().signal;
const megabytes = ({ isQuick }) => (isQuick ? 1 : 5);

const section = (index) =>
  `<section class="row"><h2 id="s${index}">Section ${index}</h2><p>Some <b>bold</b> and <i>other</i> text with <a href="/x/${index}">a link</a>, &amp; entities.</p><pre><code class="language-js">const a${index} = ${index};\nrun();</code></pre><table><tr><th>A</th><th>B</th></tr><tr><td>${index}</td><td>x</td></tr></table></section>\n`;

/** Pages that begin like this and go on like that. */
const pages = {
  'an ordinary page': ['<html><body><main>', section],
  'one large link': ['<a href="/x">', () => 'word <b>x</b> '],
  'one large cell': ['<table><tr><td>', () => 'word <b>x</b> '],
  'one large table': ['<table>', () => '<tr><td>1</td><td>2</td></tr>'],
  'one large listing': ['<pre>', () => 'x <b>y</b>\n'],
  'a listing in lists': [`${'<ul><li>'.repeat(8)}<pre>`, () => 'x <b>y</b>\n'],
};

export const cases = group(
  'web',
  Object.entries(pages).map(([what, page]) => ({
    name: `turn 5 MB of HTML into Markdown: ${what}`,
    note: 'raw is parse5, which stops at the tree; quick runs take 1 MB',
    contestants: {
      raw: async (place) => {
        const html = filled(page, megabytes(place));
        return { run: async () => ({ output: parse(html).nodeName, stall: 0 }) };
      },
      lathe: async (place) => {
        const html = filled(page, megabytes(place));
        return { run: async () => (await htmlToMarkdown(html, base, never)).markdown };
      },
    },
    verify: (output) => output.length > 0,
    goals: [
      { metric: 'time', than: 'raw', limit: 3, guard: 8 },
      { metric: 'stall', limit: 50 },
    ],
    isQuick: what === 'an ordinary page',
  })),
);

function filled([begin, next], size) {
  let html = begin;
  for (let index = 0; html.length < size * 1_000_000; index++) html += next(index);
  return html;
}
