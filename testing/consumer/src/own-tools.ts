import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Answer, BaseTool, defineTool, type ToolCall, type ToolResult } from '@lathe/core';
import { runCalls, tempWorkspace } from '@lathe/core/testing';
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

/** A class whose code reads, asks and writes through its call. */
class StampTool extends BaseTool<{ path: string }> {
  constructor() {
    super({
      name: 'stamp',
      description: 'Puts a word at the end of a file.',
      parameterSchema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
    });
  }

  async execute({ path }: { path: string }, _signal: AbortSignal, call: ToolCall): Promise<string> {
    const answer: Answer = await call.ask('Which word?', ['draft', 'final']);
    if (answer.status !== 'answered') return `No word: ${answer.status}`;
    return call.write(path, `${await call.readText(path)}${answer.text}\n`);
  }
}

void test('a tool asks, reads and writes through its call', async () => {
  const workspace = tempWorkspace({ 'note.txt': 'text\n' });
  try {
    const { outcomes, questions } = await runCalls({
      tools: [new StampTool()],
      calls: [
        { name: 'stamp', args: { path: 'note.txt' } },
        { name: 'stamp', args: { path: '/etc/passwd' } },
      ],
      cwd: workspace.path,
      answers: [
        { outcome: 'once', choice: '1' },
        { outcome: 'once' },
        { outcome: 'deny', message: 'own word' },
        { outcome: 'deny' },
      ],
    });
    assert.deepEqual(
      outcomes.map(({ status, error }) => error?.type ?? status),
      ['success', 'execution_denied'],
    );
    assert.deepEqual(
      questions.map(({ tool }) => tool),
      ['stamp', 'write_file', 'stamp', 'read_file'],
    );
    assert.equal(workspace.read('note.txt'), 'text\nfinal\n');
  } finally {
    workspace.remove();
  }
});
