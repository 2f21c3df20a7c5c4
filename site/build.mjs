// npm run site: copies the pages of docs, adds the API pages and builds the site into site/dist.
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'vitepress';
import { apiPages } from './api-pages.mjs';

const pages = join(import.meta.dirname, 'pages');
rmSync(pages, { recursive: true, force: true });
cpSync(join(import.meta.dirname, '..', 'docs'), pages, {
  recursive: true,
  filter: (path) => !/\.\w+$/.test(path) || /\.(?:md|svg|png)$/.test(path),
});
cpSync(join(import.meta.dirname, 'index.md'), join(pages, 'index.md'));
mkdirSync(join(pages, 'api'));
for (const [name, text] of apiPages()) writeFileSync(join(pages, 'api', name), text);
await build(import.meta.dirname);
