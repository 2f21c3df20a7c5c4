import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openApi } from './openapi.js';
import { routes } from './routes.js';

const document = JSON.parse(JSON.stringify(openApi(routes)));

test('docs/openapi.json is what the server offers: node scripts/openapi.mjs writes it', () => {
  const file = join(import.meta.dirname, '../../../../docs/openapi.json');
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(document);
});

test('every reference leads to a schema, every operation has its own name, every parameter is in its path', () => {
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)];
  expect(references.map(([, name = '']) => name).filter((name) => !(name in document.components.schemas))).toEqual([]);
  expect(new Set(routes.map(({ name }) => name)).size).toBe(routes.length);
  expect(new Set(routes.map(({ method, path }) => `${method} ${path}`)).size).toBe(routes.length);
});

test('docs/server.md names every operation', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../../docs/server.md'), 'utf8');
  const listed = routes.map(
    ({ method, path }) => `${method} ${path.replace('{id}', 'ID').replace('{questionId}', 'QUESTION')}`,
  );
  expect(listed.filter((line) => !page.includes(`\`${line}\``))).toEqual([]);
});
