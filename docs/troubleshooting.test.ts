import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');
const page = readFileSync(join(root, 'docs/troubleshooting.md'), 'utf8');
const messages = [...page.matchAll(/^### `(.+)`$/gm)].map(([, message = '']) => message);

/** The text of the sources, with every placeholder of a template as `…` and literals that are joined by `+` in one. */
const sources = execFileSync('git', ['ls-files', 'packages/*/src/*.ts'], { cwd: root, encoding: 'utf8' })
  .split('\n')
  .filter((file) => file !== '' && !file.endsWith('.test.ts'))
  .map((file) => readFileSync(join(root, file), 'utf8').replaceAll(/\$\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}/g, '…'))
  .join('\n');

test('the page explains at least twenty messages', () => {
  expect(messages.length).toBeGreaterThanOrEqual(20);
});

test.each(messages)('a source file still has the message %s', (message) => {
  expect(sources.includes(message)).toBe(true);
});
