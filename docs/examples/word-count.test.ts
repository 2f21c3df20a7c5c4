import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BaseTool, createLathe } from '@lathe/core';
import { expect, expectTypeOf, test } from 'vitest';
import { tempDirectory } from '../../testing/temp-directory.js';
import { wordCount } from './word-count.js';

const never = new AbortController().signal;

async function latheIn(directory: string) {
  return createLathe({
    cwd: directory,
    env: {},
    home: directory,
    latheHome: join(directory, '.lathe-state'),
    tools: [wordCount],
  });
}

test('the tool of the guide runs through all nine steps', async () => {
  const directory = tempDirectory({ 'a.txt': 'one two three\nfour' });
  const lathe = await latheIn(directory);
  const path = join(directory, 'a.txt');
  const outcomes = await lathe.run(
    [
      { name: 'word_count', args: { path } },
      { name: 'word_count', args: { path, minimum_length: '4' } },
      { name: 'word_count', args: { path: 'a.txt' } },
      { name: 'word_count', args: { path: `${path}.missing` } },
    ],
    never,
  );
  await lathe.close();
  expect(outcomes.map(({ status, error }) => error?.type ?? status)).toEqual([
    'success',
    'success',
    'invalid_tool_params',
    'file_not_found',
  ]);
  expect(outcomes[0]?.llmContent).toBe(`${path} has 4 words.`);
  expect(outcomes[1]?.llmContent).toMatch(/has 2 words/);
});

test('a rule that denies reading a file holds for it', async () => {
  const directory = tempDirectory({
    '.lathe-state/settings.json': '{"permissions": {"deny": ["read_file(*.env)"]}}',
    'a.env': 'KEY=1',
  });
  const lathe = await latheIn(directory);
  const [outcome] = await lathe.run([{ name: 'word_count', args: { path: join(directory, 'a.env') } }], never);
  await lathe.close();
  expect(outcome?.error?.type).toBe('execution_denied');
});

test('its parameters are inferred and it is a BaseTool', () => {
  expect(wordCount).toBeInstanceOf(BaseTool);
  expectTypeOf(wordCount.execute).parameter(0).toEqualTypeOf<{ path: string; minimum_length?: number }>();
});

test('the guide shows exactly this file, in under 40 lines', () => {
  const source = readFileSync(join(import.meta.dirname, 'word-count.ts'), 'utf8');
  const guide = readFileSync(join(import.meta.dirname, '..', 'write-a-tool.md'), 'utf8');
  expect(guide).toContain(`\`\`\`ts\n${source}\`\`\``);
  expect(source.split('\n').length).toBeLessThan(40);
});
