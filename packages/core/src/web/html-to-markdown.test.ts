import { monitorEventLoopDelay } from 'node:perf_hooks';
import { finalizeParse, parseHtmlStream } from '@mdream/js/parse';
import { expect, test } from 'vitest';
import { never } from '../../../../testing/web-server.js';
import { Pace } from '../files/pace.js';
import { htmlToMarkdown } from './html-to-markdown.js';
import { readableHtml } from './readable-html.js';

const base = new URL('https://example.com/');
const size = process.env['LATHE_LONG'] ? 5_000_000 : 300_000;
const repeat = (text: string) => text.repeat(Math.ceil(size / text.length));

/** Input that is easy to write and hard to parse. */
const hostile: Record<string, string> = {
  'text without a tag': repeat('word '),
  'one long word': repeat('w'),
  'nothing but signs': repeat('<'),
  'a tag that never ends': `<a href="${repeat('x')}`,
  'a comment that never ends': `<!-- ${repeat('x ')}`,
  'a script full of ends': `<script>${repeat('"</scr" + "ipt>" ')}</script>`,
  'elements that never end': repeat('<div>'),
  'lists in lists': repeat('<ul><li>'),
  'spaces in code': `<pre>${repeat(' ')}x</pre>`,
  'one long paragraph': `<p>${repeat('a<b>b</b>')}`,
  'one large table': `<table>${repeat('<tr><td>1</td><td>2</td></tr>')}`,
  'one large cell': `<table><tr><td>${repeat('word <b>x</b> ')}`,
  'one large link': `<a href="/x">${repeat('word <b>x</b> ')}`,
  entities: repeat('&amp;'),
  'quotes everywhere': repeat('<a b="\'>" c=\'"\'>'),
};

test.each(Object.entries(hostile))(
  '%s: is cut into pieces of bounded length and converted',
  async (_what, html) => {
    const { pieces } = await readableHtml(html, base, 'body', new Pace());
    expect(Math.max(0, ...pieces.map(({ length }) => length))).toBeLessThan(200_000);
    const { markdown } = await htmlToMarkdown(html, base, never);
    expect(markdown.length).toBeLessThanOrEqual(html.length * 2);
  },
  120_000,
);

test('cutting a page into pieces changes nothing of it', async () => {
  const html = `<main>${repeat('<p>Some <i>text</i> 1 &lt; 2.</p>\n')}</main>`;
  const { pieces } = await readableHtml(html, base, 'body', new Pace());
  expect(pieces.join('')).toBe(html);
  expect(pieces.length).toBeGreaterThan(5);
});

test.each([
  ['a < b <3 c', 'a &lt; b &lt;3 c'],
  ['a<!-- x > <b> -->b', 'ab'],
  ['<script>"</b>"; if (a<b) </script >c', 'c'],
  ['<STYLE>x</STYLE>d', 'd'],
  ["<p title=it's>e", '<p>e'],
  ['<p title="<main>">f', '<p>f'],
  ['<!-- never closed', ''],
])('%s is read as a browser reads it', async (html, text) => {
  expect((await readableHtml(html, base, 'body', new Pace())).pieces.join('')).toBe(text);
});

test('a conversion can be stopped', async () => {
  const controller = new AbortController();
  const outcome = htmlToMarkdown(repeat('<p>some <b>text</b></p>').repeat(10), base, controller.signal);
  controller.abort(new Error('enough'));
  await expect(outcome).rejects.toThrow('enough');
});

const section = (index: number) =>
  `<section class="row"><h2 id="s${index}">Section ${index}</h2><p>Some <b>bold</b> and <i>other</i> text with <a href="/x/${index}">a link</a>, &amp; entities.</p><pre><code class="language-js">const a${index} = ${index};\nrun();</code></pre><table><tr><th>A</th><th>B</th></tr><tr><td>${index}</td><td>x</td></tr></table></section>\n`;

/** A standard parser takes about twice as long as the tokenizer. Says something only on a machine that does nothing else: run it with LATHE_LONG=1. */
test.skipIf(!process.env['LATHE_LONG'])(
  '5 MB take a few times what the bare tokenizer takes, and never hold up the event loop',
  async () => {
    let html = '<html><body><main>';
    for (let index = 0; html.length < 5_000_000; index++) html += section(index);
    const { pieces } = await readableHtml(html, base, 'body', new Pace());
    const cpu = () => process.cpuUsage().user / 1000;
    const parseAll = () => {
      const state = { depthMap: new Uint16Array(256), depth: 0 };
      let rest = '';
      for (const piece of pieces) rest = parseHtmlStream(rest + piece, state, () => {});
      finalizeParse(rest, state, () => {});
    };
    const times: { parse: number; convert: number; block: number }[] = [];
    for (let round = 0; round < 3; round++) {
      const delay = monitorEventLoopDelay({ resolution: 1 });
      const start = cpu();
      parseAll();
      const parsed = cpu();
      delay.enable();
      await htmlToMarkdown(html, base, never);
      delay.disable();
      times.push({ parse: parsed - start, convert: cpu() - parsed, block: delay.max / 1e6 });
    }
    expect(Math.min(...times.map(({ parse, convert }) => convert / parse))).toBeLessThan(6);
    expect(Math.min(...times.map(({ block }) => block))).toBeLessThan(50);
  },
  300_000,
);
