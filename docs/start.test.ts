import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { providers } from '@lathe/agent/models';
import { expect, test } from 'vitest';

const page = readFileSync(join(import.meta.dirname, 'start.md'), 'utf8');

test.each(providers)('the start page names the key and the model of $name', ({ keyVariables, defaultModel }) => {
  const rows = page.split('\n').map((line) => line.split('|').map((cell) => cell.trim()));
  expect(rows).toContainEqual(['', expect.any(String), `\`${keyVariables[0]}\``, `\`${defaultModel}\``, '']);
});
