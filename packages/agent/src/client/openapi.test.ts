import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { apiOperations } from './api-operations.js';
import { openApi } from './openapi.js';

const docs = join(import.meta.dirname, '../../../../docs');
const document = JSON.parse(JSON.stringify(openApi()));

test('docs/openapi.json is what the server offers: node scripts/openapi.mjs writes it', () => {
  expect(JSON.parse(readFileSync(join(docs, 'openapi.json'), 'utf8'))).toEqual(document);
});

test('every reference leads somewhere, and every operation has its own method and path', () => {
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/(\w+)\/(\w+)"/g)];
  expect(references.length).toBeGreaterThan(50);
  expect(references.filter(([, kind = '', name = '']) => !(name in document.components[kind]))).toEqual([]);
  const places = Object.values(apiOperations).map(({ method, path }) => `${method} ${path}`);
  expect(new Set(places).size).toBe(places.length);
});

test('docs/server.md names every operation', () => {
  const page = readFileSync(join(docs, 'server.md'), 'utf8');
  const listed = Object.values(apiOperations).map(
    ({ method, path }) => `${method} ${path.replace('{id}', 'ID').replace('{questionId}', 'QUESTION')}`,
  );
  expect(listed.filter((line) => !page.includes(`\`${line}\``))).toEqual([]);
});
