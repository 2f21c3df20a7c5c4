import { expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { runCalls } from '../testing/run-calls.js';
import { ToolRegistry } from './tool-registry.js';
import { BaseTool, defineTool } from './tools.js';

const greet = defineTool({
  name: 'greet_person',
  description: 'Greets somebody.',
  kind: 'read',
  parameterSchema: z.object({
    who: z.string().refine((name) => name !== 'nobody', 'greet somebody'),
    times: z.number().int().default(2),
  }),
  execute: ({ who, times }) => {
    expectTypeOf(times).toEqualTypeOf<number>();
    return `Hello, ${who}! `.repeat(times).trim();
  },
});

const call = async (args: Record<string, unknown>) =>
  (await runCalls({ tools: [greet], calls: [{ name: 'greet_person', args }] })).outcomes[0];

test('a schema of zod gives the types, the declaration and the defaults', async () => {
  expect(greet.parameterSchema).toEqual({
    type: 'object',
    properties: {
      who: { type: 'string' },
      times: { default: 2, type: 'integer', maximum: expect.any(Number), minimum: expect.any(Number) },
    },
    required: ['who'],
  });
  expect(greet.displayName).toBe('Greet Person');
  expect(await call({ who: 'Ada' })).toMatchObject({ status: 'success', llmContent: 'Hello, Ada! Hello, Ada!' });
});

test('what only the library can check is checked, and named', async () => {
  expect((await call({ who: 'nobody' }))?.error?.message).toBe(
    'Invalid parameters for greet_person: who: greet somebody',
  );
});

test('a schema that cannot give JSON Schema is refused by name', () => {
  const schema = { '~standard': { version: 1, vendor: 'old', validate: () => ({ value: 1 }) } } as const;
  const spec = { name: 'x', description: '', parameterSchema: schema, execute: () => '' };
  expect(() => defineTool(spec)).toThrow('This schema of old cannot give JSON Schema');
});

test('a class may return a text, and leave out its display name and its kind', async () => {
  class Plain extends BaseTool<object> {
    constructor() {
      super({ name: 'plain', description: 'Says so.', parameterSchema: { type: 'object' } });
    }
    async execute() {
      return 'so';
    }
  }
  const { outcomes, questions } = await runCalls({ tools: [new Plain()], calls: [{ name: 'plain' }] });
  expect([outcomes[0]?.llmContent, outcomes[0]?.returnDisplay, questions]).toEqual(['so', 'so', []]);
});

test.each([[{ type: 'objekt' }], [{ type: 'object', properties: { a: { type: 'string', pattern: '(' } } }]])(
  'a tool with the schema %j is not registered',
  (parameterSchema) => {
    const tool = defineTool({ name: 'broken', description: '', parameterSchema, execute: () => '' });
    expect(() => new ToolRegistry().registerTool(tool)).toThrow('The parameter schema of "broken" cannot be checked');
  },
);

test('every function of a tool gets the parameters as the library reads them', async () => {
  const seen: string[] = [];
  const see = <T>(what: string, value: number, answer: T): T => {
    seen.push(`${what} ${value.toFixed(1)}`);
    return answer;
  };
  const tool = defineTool({
    name: 'defaults',
    description: '',
    parameterSchema: z.object({ n: z.number().default(2) }),
    validate: ({ n }) => see('validate', n, null),
    describe: ({ n }) => `describe ${n.toFixed(1)}`,
    targets: ({ n }) => see('targets', n, []),
    confirm: async ({ n }) => see('confirm', n, false),
    execute: ({ n }) => n.toFixed(1),
  });
  const { outcomes } = await runCalls({ tools: [tool], calls: [{ name: 'defaults', args: {} }] });
  expect(outcomes).toMatchObject([{ status: 'success', llmContent: '2.0', description: 'describe 2.0' }]);
  expect(seen).toEqual(['validate 2.0', 'targets 2.0', 'confirm 2.0']);
});

test.each([
  ['throws', raise, 'unhandled_exception'],
  ['fails later', async () => raise(), 'invalid_tool_params'],
  // oxlint-disable-next-line unicorn/no-thenable -- some libraries have promises of their own
  ['answers later in its own way', () => ({ then: () => undefined }), 'invalid_tool_params'],
])('a library that %s fails the call and nothing else', async (_title, validate, type) => {
  const parameterSchema = {
    '~standard': { version: 1, vendor: 'odd', validate, jsonSchema: { input: () => ({ type: 'object' }) } },
  } as unknown as z.ZodObject;
  const tool = defineTool({ name: 'odd', description: '', parameterSchema, execute: () => 'ran' });
  const { outcomes } = await runCalls({ tools: [tool], calls: [{ name: 'odd', args: {} }] });
  // A promise that nobody waits for would end the program here.
  await new Promise((done) => setImmediate(done));
  expect(outcomes[0]?.error?.type).toBe(type);
});

function raise(): never {
  throw new Error('broken');
}
