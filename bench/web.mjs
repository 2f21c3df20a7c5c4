// Converting 5 MB of HTML to Markdown against parsing the same page with parse5 (tokens and tree, nothing else),
// interleaved in one run, and how long the event loop waits meanwhile. `node bench/web.mjs [rounds]` after a build.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { parse } from 'parse5';
import { htmlToMarkdown } from '../packages/core/dist/web/html-to-markdown.js';

const rounds = Number(process.argv[2] ?? 5);
const size = 5_000_000;
const limits = { ratio: 3, stall: 50 };
const base = new URL('https://example.com/');
const never = new AbortController().signal;
const repeat = (text) => text.repeat(Math.ceil(size / text.length));

const section = (index) =>
  `<section class="row"><h2 id="s${index}">Section ${index}</h2><p>Some <b>bold</b> and <i>other</i> text with <a href="/x/${index}">a link</a>, &amp; entities.</p><pre><code class="language-js">const a${index} = ${index};\nrun();</code></pre><table><tr><th>A</th><th>B</th></tr><tr><td>${index}</td><td>x</td></tr></table></section>\n`;
const pages = {
  'an ordinary page': `<html><body><main>${Array.from({ length: 13_000 }, (_, index) => section(index)).join('')}`,
  'one large link': `<a href="/x">${repeat('word <b>x</b> ')}`,
  'one large cell': `<table><tr><td>${repeat('word <b>x</b> ')}`,
  'one large table': `<table>${repeat('<tr><td>1</td><td>2</td></tr>')}`,
  'one large listing': `<pre>${repeat('x <b>y</b>\n')}`,
};

let isSlow = false;
for (const [name, html] of Object.entries(pages)) {
  const times = { parse: [], convert: [], stall: [] };
  for (let round = 0; round < rounds; round++) {
    times.parse.push(await timed(() => void parse(html)));
    // The tree that was just parsed is no work of the conversion.
    globalThis.gc?.();
    const delay = monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    times.convert.push(await timed(() => htmlToMarkdown(html, base, never)));
    delay.disable();
    times.stall.push(delay.max / 1e6);
  }
  const [parsed, converted, stall] = [times.parse, times.convert, times.stall].map(median);
  const ratio = converted / parsed;
  if (ratio > limits.ratio || stall > limits.stall) isSlow = true;
  console.log(
    `${name.padEnd(18)} parse5 ${parsed.toFixed(0).padStart(5)} ms  Markdown ${converted.toFixed(0).padStart(5)} ms  ratio ${ratio.toFixed(2)} (limit ${limits.ratio})  longest stall ${stall.toFixed(0)} ms (limit ${limits.stall})`,
  );
}
process.exitCode = isSlow ? 1 : 0;

async function timed(work) {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

function median(numbers) {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];
}
