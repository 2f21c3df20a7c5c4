import { expect, test } from 'vitest';
import { never } from '../../../../../testing/web-server.js';
import { htmlToMarkdown } from './read-page.js';

const base = new URL('https://example.com/');
const read = async (html: string) => htmlToMarkdown(html, base, never);

// SI10
test.each([
  'font-size:1em',
  'font-size:1rem',
  'font-size:1.2rem',
  'font-size:1.5em;line-height:1',
  'font-size:100%',
  'font:400 16px/1.5 serif',
  'font:inherit',
  'line-height:1',
  'line-height:0',
  'min-width:0;overflow:hidden',
  'min-height:0;max-width:100%;overflow:hidden',
  'width:0;flex:1;overflow:hidden',
  'height:0',
  'height:0;overflow:hidden;padding-bottom:56%',
  'width:100px;height:1px',
  'border-width:0',
  'border-width:1px;border-top-width:0',
  'margin-top:-120px',
  'margin:0 -9999px;padding:0 9999px',
  'padding-bottom:9999px;margin-bottom:-9999px',
  'position:relative;top:-100px;left:0',
  'text-indent:-2em',
  'fill-opacity:0',
  'stroke-opacity:0;opacity:.6',
  'opacity:1',
  'transform:scale(1.05) translate(-50%, -50%)',
  'clip:rect(0,100px,100px,0)',
  'clip-path:inset(0 10% round 4px)',
  'color:#222',
  'background:#000;color:#fff',
  'color:#000;background:rgba(0,0,0,.2)',
  'color:transparent;background:linear-gradient(red,blue);-webkit-background-clip:text',
  'background-color:white',
  'border-color:white;outline-color:transparent',
  '--x:none;background:url(a;display:none)',
  'font-family:"display:none;"',
  '/* display:none */',
  'display:block',
  'visibility:visible',
])('text with the style %s is kept', async (style) => {
  expect(await read(`<p style='${style}'>text`)).toMatchObject({ markdown: 'text', hiddenTexts: 0 });
});

// SI10
test.each([
  'display:none',
  'DISPLAY : None !important',
  'display/**/:none',
  'display:/* a;b */none',
  'd\\69splay:none',
  'background:url("a)b;");display:none',
  'visibility:hidden',
  'content-visibility:hidden',
  'opacity:0',
  'opacity:.0',
  'opacity:0.01',
  'opacity:0%',
  'filter:opacity(0)',
  'font-size:0',
  'font-size:1px',
  'font-size:.9pt',
  'font-size:0.01em',
  'font:0/0 a',
  'font:italic 1px/2 serif',
  'transform:scale(0)',
  'transform:rotate(3deg) scaleX(.01)',
  'scale:0',
  'transform:translateX(-9999px)',
  'position:absolute;left:-99em',
  'position:absolute;left:-9999px',
  'position:fixed;top:-200vh',
  'text-indent:-9999px',
  'margin-left:-9999px',
  'margin:-9999px 0 0',
  'clip:rect(0 0 0 0)',
  'clip:rect(1px,1px,1px,1px)',
  'clip-path:inset(50%)',
  'clip-path:circle(0)',
  'height:0;overflow:hidden',
  'width:1px;height:1px;overflow:hidden',
  'max-height:0;overflow:clip',
  'color:white',
  'color:#FEFEFE',
  'color:rgb(255 255 255)',
  'color:rgb(100% 100% 100%)',
  'color:hsl(0 0% 100%)',
  'color:#fff;background:rgba(255,255,255,1)',
  'color:#000;background:black',
  'color:transparent',
  'color:rgb(0 0 0 / 0%)',
])('text with the style %s is left out, and counted', async (style) => {
  expect(await read(`a<p style='${style}'>text`)).toMatchObject({ markdown: 'a', hiddenTexts: 1 });
});

// SI10
test.each([
  ['<font color=white>a</font>b', 'b'],
  ['<link rel=stylesheet href=x.css><font color=white>a</font>b', 'ab'],
  ['<style>body{background:#123}</style><font color=white>a</font>b', 'ab'],
  ['<table bgcolor="#003366"><tr><td><font color=white>a</font>', '| a |\n| --- |'],
  ['<div style="background:#123"><p style="color:#fff">a</div><p style="color:#fff">b', 'a'],
  ['<div style="background:url(x.png)"><p style="color:#fff">a', 'a'],
  [
    '<div style="color:#fff">a<p style="color:#333">b<p>c<p><a href=/x>d</a></div>e',
    'b\n\n[d](https://example.com/x)\n\ne',
  ],
  ['<div style="font-size:0">a<p style="font-size:13px">b</p><p style="font-size:2em">c</div>d', 'b\n\nd'],
  [
    '<div style="font-size:0">a<i style="font-size:inherit">b</i><img src=/c alt=c></div>',
    '![c](https://example.com/c)',
  ],
  ['<div style="visibility:hidden">a<img src=/c><p style="visibility:visible">b</div>', 'b'],
  ['<div style="display:none">a<p style="display:block">b</div>c', 'c'],
  ['<table><tr style="font-size:0"><td>a<td style="font-size:1rem">b</table>', '|  | b |\n| --- | --- |'],
])('%s: inner elements override what can be overridden', async (html, markdown) => {
  expect((await read(html)).markdown).toBe(markdown);
});

test('a page that hides its body until its scripts have run is read', async () => {
  const html = '<html style="opacity:0"><body class="hidden" style="font-size:0;color:white;display:none"><p>text';
  expect(await read(html)).toMatchObject({ markdown: 'text', hiddenTexts: 0 });
});

// SI10
test.each([
  ['hidden', ''],
  ['x d-none y', ''],
  ['sr-only focus:not-sr-only', ''],
  ['hidden group-hover:block', ''],
  ['hidden md:block', 'text'],
  ['d-none d-lg-flex', 'text'],
  ['hidden-xs overflow-hidden', 'text'],
])('the class %s hides text as in CSS frameworks, on a wide screen', async (name, markdown) => {
  expect((await read(`<p class="${name}">text`)).markdown).toBe(markdown);
});

// SI10
test.each([
  ['.q{display:none}', ''],
  ['a{color:red} .r , #i {color:red;visibility: hidden !important}', ''],
  ['@import "x";@media print{p{color:red}} .q{/*}*/display:none}', ''],
  ['p.q{display:none} .q p{display:none} .q:hover{display:none}', 'text'],
  ['@media print{a{b:c} .q{display:none}}', 'text'],
  ['.q{display:none} @media (min-width: 1px){.q{display:block}}', 'text'],
  ['.q{display:none} .open .q{display:block}', 'text'],
  ['.Q{display:none}', 'text'],
  ['.q{content:"} .q{display:none"}', 'text'],
  ['.q{display:none}</style><style media=print>.q{display:block}', ''],
  ['.x{}</style><style media=print>.q{display:none}', 'text'],
  ['</style><noscript><style>.q{display:none}</style></noscript><style>', 'text'],
  ['</style><!-- <style>.q{display:none}</style> --><style>', 'text'],
  [`.q{display:none}${' '.repeat(300_000)}`, 'text'],
])('the style sheet %.80s counts if it is simple', async (sheet, markdown) => {
  expect((await read(`<style>${sheet}</style><p class="p q" id=i>text`)).markdown).toBe(markdown);
});

test("an element's own style counts more than a sheet", async () => {
  expect((await read('<style>.q{display:none}</style><p class=q style="display:block">text')).markdown).toBe('text');
});
