import { join } from 'node:path';
import { type ApprovalRequest, BaseTool, createLathe } from '@lathe/core';
import { expect, expectTypeOf, onTestFinished, test } from 'vitest';
import { tempDirectory } from '../../testing/temp-directory.js';
import { wordCount } from './word-count.js';

const never = new AbortController().signal;

async function latheIn(directory: string) {
  const questions: ApprovalRequest[] = [];
  const lathe = await createLathe({
    cwd: directory,
    env: {},
    home: directory,
    latheHome: join(directory, '.lathe-state'),
    tools: [wordCount],
    approver: {
      decide: async (request) => {
        questions.push(request);
        return { outcome: 'deny' };
      },
    },
  });
  onTestFinished(() => lathe.close());
  return { lathe, questions };
}

test('the tool of the guide runs through all nine steps', async () => {
  const directory = tempDirectory({ 'a.txt': 'one two three\nfour' });
  const { lathe, questions } = await latheIn(directory);
  const path = join(directory, 'a.txt');
  const outcomes = await lathe.run(
    [
      { name: 'word_count', args: { path } },
      { name: 'word_count', args: { path: 'a.txt', minimum_length: '4' } },
      { name: 'word_count', args: { path: 7, more: true } },
      { name: 'word_count', args: { path: `${path}.missing` } },
    ],
    never,
  );
  expect(outcomes.map(({ status, error }) => error?.type ?? status)).toEqual([
    'success',
    'success',
    'invalid_tool_params',
    'file_not_found',
  ]);
  expect(outcomes[0]?.llmContent).toBe(`${path} has 4 words.`);
  expect(outcomes[1]?.llmContent).toMatch(/has 2 words/);
  expect(questions).toEqual([]);
});

test('it asks before it reads outside or a key, and a rule that denies reading holds for it', async () => {
  const directory = tempDirectory({
    '.lathe-state/settings.json': '{"permissions": {"deny": ["read_file(*.env)"]}}',
    'a.env': 'KEY=1',
    '.ssh/id_rsa': 'key',
  });
  const { lathe, questions } = await latheIn(directory);
  const paths = ['/etc/hosts', '../../../../../../../../etc/hosts', '.ssh/id_rsa', 'a.env'];
  const outcomes = await lathe.run(
    paths.map((path) => ({ name: 'word_count', args: { path } })),
    never,
  );
  expect(outcomes.map(({ error }) => error?.type)).toEqual([
    'execution_denied',
    'execution_denied',
    'execution_denied',
    'execution_denied',
  ]);
  expect(questions.map(({ tool, confirmation }) => `${tool}: ${confirmation.title}`).toSorted()).toEqual([
    'read_file: Read a secret?',
    'read_file: Read outside the workspace?',
    'read_file: Read outside the workspace?',
  ]);
});

test('its parameters are inferred and it is a BaseTool', () => {
  expect(wordCount).toBeInstanceOf(BaseTool);
  expectTypeOf(wordCount.execute).parameter(0).toEqualTypeOf<{ path: string; minimum_length?: number }>();
});
