import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');

/** Names and phrases that were replaced by plain technical English. */
const replaced = [
  /\b(?:tellingNames|WalkWitness|hasTrap|hasSay|noOneThere|epitaph|ToolShelf|Slots|Pace|isTired|whereIsIt|fateOf|sessionOrder|obeyOrder)\b/,
  /\bothers than\b|\bwhat is known of\b|\bfor to (?:hold|be|have)\b|\bmend(?:ed|s)?\b|\b(?:is|are) told (?!apart)|\bha(?:s|ve) a say\b/i,
  /\bslip of the pen\b|\bleft alone with\b|\bare others now\b|\bturned in between\b|\bcould not be made shorter\b|\bhears nothing\b/i,
];

test('no replaced name or phrase is back', () => {
  const files = execFileSync(
    'git',
    ['ls-files', 'packages', 'docs', 'examples', 'testing', 'scripts', 'bench', 'site', '*.md'],
    {
      cwd: root,
      encoding: 'utf8',
    },
  );
  const found = files
    .split('\n')
    .filter((file) => /\.(?:ts|tsx|mjs|md)$/.test(file) && file !== 'testing/wording.test.ts')
    .filter((file) => {
      const text = readFileSync(join(root, file), 'utf8');
      return replaced.some((pattern) => pattern.test(text));
    });
  expect(found).toEqual([]);
});
