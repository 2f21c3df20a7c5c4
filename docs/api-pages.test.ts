import { expect, test } from 'vitest';
import { apiPages } from '../site/api-pages.mjs';

const pages = apiPages();

test('the API reference has a page for each public entry', () => {
  const links = [...(pages.get('index.md') ?? '').matchAll(/\]\((lathe-[\w-]+\.md)\)/g)].map(([, file]) => file);
  expect(links).toContain('lathe-core.md');
  expect([...pages.keys()]).toEqual(['index.md', ...links]);
});

test('an export has its doc comment and its whole declaration', () => {
  const page = pages.get('lathe-core.md') ?? '';
  const section = page.slice(page.indexOf('## GrantScope\n'), page.indexOf('## JsonSchema\n'));
  expect(section).toMatch(/^## GrantScope\n\n[A-Z][^\n]+\n\n```ts\ntype GrantScope = '[^;]+;\n```\n\n$/);
  // A union with comments between its members does not end at the first of them.
  expect(page).toMatch(/type CallEvent =[^`]*type: 'notice'[^`]*;\n```/);
});
