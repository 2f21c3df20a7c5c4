import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');

/** Names and phrases that were replaced by plain technical English. */
const replaced = [
  /\b(?:tellingNames|WalkWitness|hasTrap|hasSay|noOneThere|epitaph|ToolShelf|Slots|Pace|isTired|whereIsIt|fateOf|sessionOrder|obeyOrder)\b/,
  /\bothers than\b|\bwhat is known of\b|\bfor to\b|\bmend(?:ed|ing|s)?\b|\bha(?:s|ve|d) a say\b/i,
  /\b(?:is|are|was|were|be|been) told (?!apart)|\b(?:is|are) said\b|\bwhoever\b|\bone's own\b/i,
  /\bslip of the pen\b|\bleft alone with\b|\bare others now\b|\bturned in between\b|\bcould not be made shorter\b|\bhears nothing\b/i,
  /\bnobody is asked\b|\bare about no tool\b|\bhistory left at\b/i,
  // "is not a file", not "is no file".
  /(?<!there )\b(?:is|are|was|were) no (?:\w+ )?(?:answer|archive|call|command|directory|file|folder|JSON|key|match|message|number|object|part|path|result|rule|session|text|tool)s?\b/i,
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
    .flatMap((file) =>
      readFileSync(join(root, file), 'utf8')
        .split('\n')
        .flatMap((line, index) =>
          replaced.some((pattern) => pattern.test(line)) ? [`${file}:${index + 1}: ${line.trim()}`] : [],
        ),
    );
  expect(found).toEqual([]);
});
