// npm run site: copies the pages of docs, adds the generated ones and builds the site into site/dist.
import { execFileSync } from 'node:child_process';
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
mkdirSync(join(pages, 'api'));
for (const [name, text] of apiPages()) writeFileSync(join(pages, 'api', name), text);
const program = join(import.meta.dirname, '..', 'packages', 'cli', 'dist', 'main.js');
const help = execFileSync(process.execPath, [program, '--help'], { encoding: 'utf8' });
writeFileSync(
  join(pages, 'command-line.md'),
  `# Command line\n\nThe output of \`lathe --help\`:\n\n\`\`\`text\n${help}\`\`\`\n`,
);
await build(import.meta.dirname);
