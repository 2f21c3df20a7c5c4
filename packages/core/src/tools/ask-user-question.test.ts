import { expect, test } from 'vitest';
import { AskUserQuestionTool, type UserQuestion } from './ask-user-question.js';

const { signal } = new AbortController();
const questions = [{ question: 'Which database?', options: ['SQLite', 'PostgreSQL'] }, { question: 'Which port?' }];

test('the answers of the person reach the model, question by question', async () => {
  const asked: (readonly UserQuestion[])[] = [];
  const tool = new AskUserQuestionTool({
    ask: async (list) => {
      asked.push(list);
      return ['SQLite', undefined];
    },
  });
  expect(await tool.execute({ questions }, signal)).toEqual({
    llmContent: 'Which database?\nAnswer: SQLite\n\nWhich port?\nAnswer: (no answer)',
    returnDisplay: 'Which database? → SQLite\nWhich port? → (no answer)',
  });
  expect(asked).toEqual([[questions[0], { question: 'Which port?', options: [] }]]);
});

test('without a person the model learns that nobody is there', async () => {
  const answer = await new AskUserQuestionTool().execute({ questions }, signal);
  expect(answer).toBe('Nobody is there to answer. Decide yourself and say what you assumed.');
});

test.each([
  ['no question', []],
  ['five questions', Array.from({ length: 5 }, () => ({ question: 'Why?' }))],
  ['an empty question', [{ question: ' ' }]],
])('%s is refused', (_, list) => {
  expect(new AskUserQuestionTool().validateToolParams({ questions: list })).toEqual(expect.any(String));
});
