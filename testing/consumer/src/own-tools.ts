import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BaseTool, defineTool, type ToolResult } from '@lathe/core';
import { runCalls } from '@lathe/core/testing';
import { z } from 'zod';

interface CountParams {
  text: string;
}

/** A class with every part written out. */
class CountTool extends BaseTool<CountParams> {
  constructor() {
    super({
      name: 'count_words',
      displayName: 'Count words',
      description: 'Counts the words of a text.',
      kind: 'read',
      parameterSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    });
  }

  protected override validateToolParamValues({ text }: CountParams): string | null {
    return text === '' ? 'text must not be empty' : null;
  }

  override getDescription({ text }: CountParams): string {
    return `Count the words of ${text.length} characters`;
  }

  async execute({ text }: CountParams): Promise<ToolResult> {
    const words = text.trim().split(/\s+/).length;
    return { llmContent: `${words}`, returnDisplay: `${words} words` };
  }
}

/** An object; the type of the parameters follows from the schema. Its declaration needs the type `DefinedTool`. */
export const add = defineTool({
  name: 'add',
  displayName: 'Add',
  description: 'Adds two numbers.',
  kind: 'read',
  parameterSchema: {
    type: 'object',
    properties: { a: { type: 'number' }, b: { type: 'number' } },
    required: ['a', 'b'],
  },
  execute: async ({ a, b }) => ({ llmContent: `${a + b}`, returnDisplay: `${a} + ${b} = ${a + b}` }),
});

/** A schema of zod, no display name, no kind, and a text as the result. */
const greet = defineTool({
  name: 'greet',
  description: 'Greets somebody.',
  parameterSchema: z.object({ name: z.string().min(2), times: z.number().default(1) }),
  execute: ({ name, times }) => `Hello ${name.toUpperCase()}! `.repeat(times).trim(),
});

void test('a class, an object and a zod schema are tools', async () => {
  const { outcomes } = await runCalls({
    tools: [new CountTool(), add, greet],
    calls: [
      { name: 'count_words', args: { text: 'one two three' } },
      { name: 'add', args: { a: 1, b: 2 } },
      { name: 'greet', args: { name: 'Ada' } },
    ],
  });
  assert.deepEqual(
    outcomes.map(({ status, llmContent, returnDisplay }) => [status, llmContent, returnDisplay]),
    [
      ['success', '3', '3 words'],
      ['success', '3', '1 + 2 = 3'],
      ['success', 'Hello ADA!', 'Hello ADA!'],
    ],
  );
});

void test('parameters that do not fit are rejected', async () => {
  const { outcomes } = await runCalls({
    tools: [new CountTool(), add, greet],
    calls: [
      { name: 'count_words', args: { text: '' } },
      { name: 'add', args: { a: 'one', b: 2 } },
      { name: 'greet', args: { name: 'A' } },
    ],
  });
  assert.deepEqual(
    outcomes.map(({ error }) => error?.type),
    ['invalid_tool_params', 'invalid_tool_params', 'invalid_tool_params'],
  );
});

void test('parameters of a wrong type do not compile', () => {
  // @ts-expect-error -- `b` is a number
  const wrong = () => add.execute({ a: 1, b: '2' }, new AbortController().signal);
  // @ts-expect-error -- zod says that `name` is a string
  const alsoWrong = () => greet.execute({ name: 1, times: 1 }, new AbortController().signal);
  assert.equal(typeof wrong, typeof alsoWrong);
});
