import { expect, test } from 'vitest';
import { never } from '../../../../../testing/web-server.js';
import { htmlToMarkdown } from './read-page.js';

const base = new URL('https://example.com/');
const size = process.env['LATHE_LONG'] ? 5_000_000 : 300_000;
const repeat = (text: string) => text.repeat(Math.ceil(size / text.length));

/** Input that is easy to write and slow to parse. */
const hostile: Record<string, string> = {
  'text without a tag': repeat('word '),
  'one long word': repeat('w'),
  'only less-than signs': repeat('<'),
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
  'tags that never end': repeat('<a '),
  'values that never end': repeat('<a b="<'),
  'attributes without end': `<p ${repeat('a=b ')}>`,
  'bold in bold': repeat('<b>x'),
  'quotes in quotes': repeat('<blockquote>x'),
  'tables in tables': repeat('<table><tr><td>x'),
  'links in links': repeat('<a href=/x>y'),
  'one large listing': `<pre>${repeat('x <b>y</b>\n')}`,
  'a listing in lists': `${'<ul><li>'.repeat(8)}<pre>${repeat('some line of code\n')}`,
  'backticks in code': `<pre>${repeat('`')}`,
  'listings in listings': repeat('<pre>x'),
  'one large heading': `<h1>${repeat('x <b>y</b>\n')}`,
  'one wide row': `<table><tr>${repeat('<td>x')}`,
  'lines in code': `<code>${repeat('`\n')}`,
  'paragraphs in quotes': `${'<blockquote>'.repeat(500)}${repeat('<p>x')}`,
  'quotes of every depth': repeat(`${'<blockquote>'.repeat(500)}x${'</blockquote>x'.repeat(500)}`),
  'lines in numbers': `${'<ol start=999999999><li>'.repeat(8)}${repeat('<br>x')}`,
  'empty lines in numbers': `${'<ol start=999999999><li>'.repeat(8)}<pre>x${repeat('\n')}x`,
  'listings in numbers': `${'<ol start=999999999><li>'.repeat(8)}${repeat('<pre>x\n\n\nx</pre>')}`,
  'links below a long address': `<base href="/${'x'.repeat(2000)}/">${repeat('<a href=x>y</a>')}`,
  'a style that never ends': `<p style="${repeat('font:0/*"')}`,
  'styles everywhere': repeat('<p style="color:red;color:blue;left:1px">x'),
  'quotes in a style': `<p style='${repeat('a:url("b;')}'>`,
  'a sheet without an end': `<style>${repeat('.a{display:none}')}`,
  'sheets everywhere': repeat('<style>.a,.b{display:none}</style><p class=a>'),
  'braces in a sheet': `<style>display${repeat('{')}</style>${repeat('}')}`,
  'quotes everywhere': repeat('<a b="\'>" c=\'"\'>'),
};

const ordinary = repeat('<p>Some <b>bold</b> text with <a href="/x">a link</a>.</p><ul><li>a<li>b</ul>\n');

/** Milliseconds of CPU time, in total and between two turns of the event loop. */
async function timed(html: string): Promise<{ ms: number; longest: number; markdown: string }> {
  const now = () => process.cpuUsage().user / 1000;
  const begin = now();
  let [last, longest] = [begin, 0];
  const turn = () => {
    longest = Math.max(longest, now() - last);
    last = now();
  };
  const timer = setInterval(turn);
  const { markdown } = await htmlToMarkdown(html, base, never);
  clearInterval(timer);
  turn();
  return { ms: now() - begin, longest, markdown };
}

test.each(Object.entries(hostile))(
  '%s: the whole conversion and each step take at most a few times as long as for an ordinary page',
  async (_what, html) => {
    const before = await timed(ordinary);
    const { ms, longest, markdown } = await timed(html);
    const behind = await timed(ordinary);
    expect(ms).toBeLessThan(Math.max(before.ms, behind.ms) * 10 + 100);
    expect(longest).toBeLessThan(Math.max(before.longest, behind.longest) * 5 + 50);
    expect(markdown.length).toBeLessThanOrEqual(html.length * 3 + 100);
  },
  120_000,
);

test('a large code block in a list keeps every line, indented, between fences that it does not contain', async () => {
  const lines = Array.from({ length: 20_000 }, (_, index) => (index % 1000 === 0 ? '```' : `line ${index}`));
  const html = `<ol><li><pre class="language-c">\r\n${lines.map((line) => `<b>${line}</b>`).join('\r\n')}\n \n</pre>after</ol>`;
  const { markdown } = await htmlToMarkdown(html, base, never);
  const fence = '`'.repeat(6);
  const expected = [`1. ${fence}c`, ...lines.map((line) => `   ${line}`), `   ${fence}`, '', '   after'];
  expect(markdown).toBe(expected.join('\n'));
});

test('the lines of long nested quotes and lists keep their prefixes', async () => {
  const html = `${'<blockquote>'.repeat(4)}${'<p>some words of a line'.repeat(10_000)}`;
  const { markdown } = await htmlToMarkdown(html, base, never);
  expect(markdown).toBe(Array(10_000).fill('> > > > some words of a line').join('\n> > > >\n'));
});

test.each([
  ['backticks in a long line', `${'x'.repeat(16_380)}${'`'.repeat(10)}y\n`, '`'.repeat(12)],
  ['new lines of two characters', 'ab\r\n'.repeat(20_000), '```'],
])('%s are kept in a code block, wherever it is split', async (_what, code, fence) => {
  for (const shift of [0, 1, 2, 3, 4, 5, 6, 7]) {
    const moved = 'x'.repeat(shift) + code;
    const { markdown } = await htmlToMarkdown(`<pre>${moved}</pre>`, base, never);
    expect(markdown).toBe(`${fence}\n${moved.replaceAll('\r', '').trimEnd()}\n${fence}`);
  }
});

test('very long inline code is shown as text, and no word is lost', async () => {
  const words = Array.from({ length: 30_000 }, (_, index) => `word${index}`);
  const { markdown } = await htmlToMarkdown(`<p>a <code>${words.join('\n')}</code> <b>c</b>`, base, never);
  expect(markdown.split(' ')).toEqual(['a', ...words, '**c**']);
});

test('a very long row is shown as paragraphs, and no word is lost', async () => {
  const words = Array.from({ length: 30_000 }, (_, index) => `word${index}`);
  const cells = Array.from({ length: 10 }, (_, index) => words.slice(index * 3000, index * 3000 + 3000).join(' '));
  const { markdown } = await htmlToMarkdown(`<table><tr><td>${cells.join('<td>')}</table>`, base, never);
  expect(markdown.split(/\s+/)).toEqual(words);
});

test('a table with a very long cell is shown as paragraphs, and no word is lost', async () => {
  const words = Array.from({ length: 30_000 }, (_, index) => `word${index}`);
  const html = `<table><tr><td>a|b<td>${words.join(' <i></i>')}<td>last</tr><tr><td>next</table>`;
  const { markdown } = await htmlToMarkdown(html, base, never);
  expect(markdown.split(/\s+/)).toEqual(['a\\|b', ...words, 'last', 'next']);
  expect(markdown).not.toContain('---');
});

test.each([
  ['a < b <3 c', 'a < b <3 c'],
  ['a<!-- x > <b> -->b', 'ab'],
  ['<script>"</b>"; if (a<b) </script >c', 'c'],
  ['<STYLE>x</STYLE>d', 'd'],
  ["<p title=it's>e", 'e'],
  ['<p title="<main>">f', 'f'],
  ['<!-- never closed', ''],
  ['<a class="x"href="/y">a</a>', '[a](https://example.com/y)'],
  ['<a/href=/y/>a</a>', '[a](https://example.com/y/)'],
  ['<a href="/y"">a</a> "b"', '[a](https://example.com/y) "b"'],
  ['<a href=/y?q="z>a</a> "b"', '[a](https://example.com/y?q=%22z) "b"'],
  ['<a rel= x= "href="/y">a</a>', 'a'],
  ['<p =">a<p title = \'>\'b=">c>">d', 'a\n\nd'],
  ['<p a=\v">b<p c=">">d', 'b\n\nd'],
  ['<!x a=">b<?c "d>e</ f=">g', 'beg'],
  ['a<p class="b"style="display:none">c<p/hidden>d<p/style=display:none>e<p\fhidden\f>f', 'a'],
  ['<!-->a<!--->b<!-- <p> --!>c', 'abc'],
  [`a<p title="${'>'.repeat(100_000)}" b=c>d`, 'a\n\nd'],
  [`a<!--${'-'.repeat(100_000)}<b>--->d`, 'ad'],
  [`<script src="${'x'.repeat(100_000)}">${'<p>'.repeat(30_000)}</script x="y">e`, 'e'],
  [`${'<div>'.repeat(2000)}a<p hidden>b</p>${'</div>'.repeat(2000)}c`, 'a\n\nc'],
  [`g<img src="data:image/png;base64,${'A'.repeat(100_000)}" alt="">h`, 'gh'],
  ['&eacute;&#8212;&#x2192;&nope;&amp;lt; &#150;', 'é—→&nope;&lt; –'],
  ['<a href="?a=1&copy=2&amp;b=3">i</a>', '[i](https://example.com/?a=1&copy=2&b=3)'],
])('%.60s is parsed as in a browser', async (html, markdown) => {
  expect((await htmlToMarkdown(html, base, never)).markdown).toBe(markdown);
});

test.each([
  ['<b>a </b>b<b> c</b>', '**a** b **c**'],
  ['<b><b>a</b> b</b>', '**a b**'],
  ['<b><p>a<p>b</b>', '**a**\n\n**b**'],
  ['<b> </b><a href=/x> </a><h1></h1><ul><li></ul>x', 'x'],
  ['<a href=/x><h2>a</h2><p>b</p></a>', '## [a](https://example.com/x)\n\nb'],
  ['<a href="javascript:alert(1)">a</a>', 'a'],
  ['<a href="/a_(b)">[c]</a>', '[\\[c\\]](https://example.com/a_%28b%29)'],
  ['<h1>a<p>b', '# a\n\nb'],
  ['<h2>a<br>b</h2>c', '## a b\n\nc'],
  ['<p># a<p>1. b<p>- c<p>a - b', '\\# a\n\n1\\. b\n\n\\- c\n\na - b'],
  ['<ul><li>a<ol start=3><li>b<li><p>c</p><p>d</p></ol><li>e</ul>f', '- a\n  3. b\n  4. c\n\n     d\n- e\n\nf'],
  ['<blockquote><p>a<p>b<ul><li>c</ul></blockquote>d', '> a\n>\n> b\n>\n> - c\n\nd'],
  ['<li><pre>a\n  b</pre>', '- ```\n  a\n    b\n  ```'],
  ['<pre><code class="x language-ts">a\n\n<b>b</b> &lt;c&gt;\n</code></pre>', '```ts\na\n\nb <c>\n```'],
  ['<pre><div>a</div><div>b</div></pre>', '```\na\nb\n```'],
  ['<pre>```\nx</pre>', '``````\n```\nx\n``````'],
  ['<code>a <b>b</b></code><code>`</code>', '`a b``` ` ``'],
  ['a<br><br>b<br>c', 'a\n\nb\nc'],
  [
    '<table><tr><th>a<th align=right>b<tr><td>1|2<td><ul><li>c<li>d</ul></table>e',
    '| a | b |\n| --- | ---: |\n| 1\\|2 | c<br>d |\n\ne',
  ],
  [
    '<table><tr><td>a<td>b<td><h1>c</h1>d<tr><td><table><tr><td>1<td>2</table></table>',
    'a\n\nb\n\n# c\n\nd\n\n| 1 | 2 |\n| --- | --- |',
  ],
])('%s is converted to Markdown', async (html, markdown) => {
  expect((await htmlToMarkdown(html, base, never)).markdown).toBe(markdown);
});

test('a title is one line without invisible characters', async () => {
  const { title } = await htmlToMarkdown('<title> a\u200b&#x202e;b\n<b>&lt;c</title>d', base, never);
  expect(title).toBe('ab <b><c');
});

test('a conversion can be aborted', async () => {
  const controller = new AbortController();
  const outcome = htmlToMarkdown(repeat('<p>some <b>text</b></p>').repeat(10), base, controller.signal);
  controller.abort(new Error('enough'));
  await expect(outcome).rejects.toThrow('enough');
});
