// node site/check.mjs: checks the built site in Chromium: links, accessibility of five pages, search.
import { createReadStream, existsSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { extname, join, normalize } from 'node:path';
import { chromium } from 'playwright-core';

const dist = join(import.meta.dirname, 'dist');
const types = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain',
};
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const searches = ['sandbox', 'undo', 'Ollama'];
const audited = [
  '/',
  '/start.html',
  '/terminal.html',
  '/settings.html',
  '/troubleshooting.html',
  '/api/lathe-core.html',
];
const problems = [];

const server = createServer((request, response) => {
  const path = decodeURIComponent(new URL(request.url ?? '/', 'http://site').pathname);
  const file = join(dist, normalize(path.endsWith('/') ? `${path}index.html` : path));
  if (!file.startsWith(dist) || !existsSync(file) || !statSync(file).isFile()) return response.writeHead(404).end();
  response.writeHead(200, { 'content-type': types[extname(file)] ?? 'application/octet-stream' });
  createReadStream(file).pipe(response);
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const origin = `http://127.0.0.1:${server.address().port}`;
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: [
    '--headless',
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ],
});
try {
  const page = await browser.newPage();
  page.on('request', (request) => {
    if (!request.url().startsWith(origin) && !request.url().startsWith('data:'))
      problems.push(`the site asks for ${request.url()}`);
  });
  const count = await checkLinks(page);
  for (const path of audited) await checkAccessibility(page, path);
  for (const word of searches) await checkSearch(page, word);
  console.log(`${count} pages, ${audited.length} audited, ${searches.length} searches, ${problems.length} problems`);
} finally {
  await browser.close();
  server.close();
}
for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;

/** Follows every link of every page from the start page on; an anchor must exist on its page. */
async function checkLinks(page) {
  const seen = new Map();
  const wanted = [];
  const queue = ['/'];
  for (let path = queue.shift(); path !== undefined; path = queue.shift()) {
    if (seen.has(path)) continue;
    const { ok } = await fetch(origin + path);
    if (!ok) problems.push(`dead link: ${path}`);
    const isPage = ok && (path.endsWith('/') || path.endsWith('.html'));
    if (isPage) await page.goto(origin + path, { waitUntil: 'domcontentloaded' });
    const { links, ids, images } = isPage
      ? await page.evaluate(() => ({
          links: Array.from(document.querySelectorAll('a[href]'), ({ href }) => href),
          ids: Array.from(document.querySelectorAll('[id]'), ({ id }) => id),
          images: Array.from(document.images, ({ src }) => src),
        }))
      : { links: [], ids: [], images: [] };
    seen.set(path, new Set(ids));
    for (const link of [...links, ...images]) {
      const url = new URL(link);
      if (url.origin !== origin) continue;
      queue.push(url.pathname);
      if (url.hash !== '')
        wanted.push({ from: path, path: url.pathname, anchor: decodeURIComponent(url.hash.slice(1)) });
    }
  }
  for (const { from, path, anchor } of wanted)
    if (!seen.get(path)?.has(anchor)) problems.push(`dead anchor on ${from}: ${path}#${anchor}`);
  return [...seen.keys()].filter((path) => path.endsWith('/') || path.endsWith('.html')).length;
}

async function checkAccessibility(page, path) {
  await page.goto(origin + path, { waitUntil: 'networkidle' });
  // The switch gets its name when the scripts of the page have started.
  await page.locator('.VPSwitchAppearance:not([title=""])').first().waitFor({ state: 'attached' });
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run());
  for (const { id, help, nodes } of violations)
    problems.push(`${path}: ${id} (${help}): ${nodes.length} times, first ${nodes[0]?.html.slice(0, 200)}`);
}

/** Types a word into the search box. The first result must be a page with this word. */
async function checkSearch(page, word) {
  await page.goto(`${origin}/`, { waitUntil: 'networkidle' });
  await page.getByRole('button', { name: 'Search' }).first().click();
  await page.getByRole('searchbox').fill(word);
  const found = page.locator('.VPLocalSearchBox .result').first();
  const address = await found.getAttribute('href', { timeout: 15_000 }).catch(() => undefined);
  const text = address === undefined ? '' : await (await fetch(new URL(address, origin))).text();
  if (!text.toLowerCase().includes(word.toLowerCase())) problems.push(`search does not find ${word}`);
}
