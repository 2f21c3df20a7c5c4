// npm run site: copies the pages of docs, adds the generated ones and builds the site into site/dist.
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'vitepress';
import { apiPages } from './api-pages.mjs';

const pages = join(import.meta.dirname, 'pages');
rmSync(pages, { recursive: true, force: true });
cpSync(join(import.meta.dirname, '..', 'docs'), pages, {
  recursive: true,
  filter: (path) => !/\.\w+$/.test(path) || /\.(?:md|svg|png)$/.test(path),
});
const index = readFileSync(join(import.meta.dirname, 'index.md'), 'utf8');
writeFileSync(join(pages, 'index.md'), index.replaceAll('](../docs/', '](./'));
// The picture of the start page is named in its head, which the generator does not resolve.
mkdirSync(join(pages, 'public'));
cpSync(join(pages, 'pictures', 'demo.svg'), join(pages, 'public', 'demo.svg'));
mkdirSync(join(pages, 'api'));
for (const [name, text] of apiPages()) writeFileSync(join(pages, 'api', name), text);
await build(import.meta.dirname);
