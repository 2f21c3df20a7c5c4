import { expect, test } from 'vitest';
import type { JsonSchema } from '../text/schema/json-schema.js';
import { ToolRegistry, type ToolSource } from './tool-registry.js';
import { type AnyTool, defineTool } from './tools.js';

const never = new AbortController().signal;

function tool(name: string, description = '', parameterSchema: JsonSchema = { type: 'object', properties: {} }) {
  return defineTool({
    name,
    displayName: name,
    description,
    kind: 'other',
    parameterSchema,
    execute: async () => ({ llmContent: '', returnDisplay: '' }),
  });
}

const source = (label: string, find: () => ReturnType<typeof tool>[] | Error): ToolSource => ({
  label,
  discover: async () => {
    const found = find();
    if (found instanceof Error) throw found;
    return found;
  },
});

const names = (registry: ToolRegistry) => registry.getAllTools().map(({ name }) => name);

test('built-ins keep their order, the rest follows by name', async () => {
  const registry = new ToolRegistry();
  registry.registerTool(tool('zebra'));
  registry.registerTool(tool('ant'));
  registry.addSource(source('b', () => [tool('b__two'), tool('b__one')]));
  registry.addSource(source('a', () => [tool('c__x'), tool('a__x')]));
  await registry.discover(never);
  expect(names(registry)).toEqual(['zebra', 'ant', 'a__x', 'b__one', 'b__two', 'c__x']);
  expect(registry.getFunctionDeclarations()[0]).toEqual({
    name: 'zebra',
    description: '',
    parametersJsonSchema: { type: 'object', properties: {} },
  });
});

test('one source is discovered again without disturbing the rest', async () => {
  const registry = new ToolRegistry();
  let round = 0;
  let others = 0;
  registry.addSource(source('moving', () => [tool(`moving__${++round}`)]));
  registry.addSource(source('still', () => [tool(`still__${++others}`)]));
  await registry.discover(never);
  await registry.discover(never, 'moving');
  expect(names(registry)).toEqual(['moving__2', 'still__1']);
});

test('a source that fails keeps the tools it had, and its error is reported', async () => {
  const registry = new ToolRegistry();
  let isBroken = false;
  registry.addSource(source('flaky', () => (isBroken ? new Error('gone') : [tool('flaky__x')])));
  registry.addSource(source('fine', () => [tool('fine__x')]));
  expect(await registry.discover(never)).toEqual(new Map());
  isBroken = true;
  expect(await registry.discover(never)).toEqual(new Map([['flaky', new Error('gone')]]));
  expect(names(registry)).toEqual(['fine__x', 'flaky__x']);
});

test.each([
  ['a built-in name', 'read_file', 'the name belongs to a built-in tool'],
  ['a name another source has', 'taken', 'the name is already used by first'],
  ['a space', 'bad name', 'not a valid tool name'],
  ['a shell metacharacter', 'x;rm', 'not a valid tool name'],
  ['an option', '-x', 'not a valid tool name'],
  ['a path', '../x', 'not a valid tool name'],
  ['65 characters', 'x'.repeat(65), 'not a valid tool name'],
  ['a look-alike letter', 'reаd_file', 'not a valid tool name'],
])('a found tool with %s is refused and the reason kept', async (_title, name, reason) => {
  const registry = new ToolRegistry();
  registry.registerTool(tool('read_file', 'ours'));
  registry.replaceTools('first', [tool('taken')]);
  registry.replaceTools('second', [tool(name), tool('good')]);
  expect(registry.rejections()).toEqual([{ source: 'second', name, reason: expect.stringContaining(reason) }]);
  expect(names(registry)).toEqual(['read_file', 'good', 'taken']);
  expect(registry.getTool('read_file')?.description).toBe('ours');
});

test('a found tool whose schema cannot be checked is refused', () => {
  const registry = new ToolRegistry();
  const schema = { type: 'object', properties: { x: { $ref: 'https://example.com/schema.json' } } } as const;
  registry.replaceTools('server', [tool('remote', '', schema)]);
  expect(registry.rejections()).toEqual([
    { source: 'server', name: 'remote', reason: expect.stringContaining('cannot be checked') },
  ]);
});

test.each(['__proto__', 'constructor', 'toString'])('%s is an ordinary name', (name) => {
  const registry = new ToolRegistry();
  expect(registry.getTool(name)).toBeUndefined();
  registry.replaceTools('odd', [tool(name)]);
  expect(registry.getTool(name)?.name).toBe(name);
});

test('a source can be taken away, and listeners hear of every change until they stop', async () => {
  const registry = new ToolRegistry();
  let changes = 0;
  const stop = registry.onChange(() => changes++);
  registry.addSource(source('a', () => [tool('a__x')]));
  await registry.discover(never);
  registry.removeSource('a');
  expect([names(registry), changes]).toEqual([[], 2]);
  stop();
  registry.registerTool(tool('x'));
  expect(changes).toBe(2);
});

test('registering a name twice or a bad name is a mistake of the program', () => {
  const registry = new ToolRegistry();
  registry.registerTool(tool('x'));
  expect(() => registry.registerTool(tool('x'))).toThrow('already registered');
  expect(() => registry.registerTool(Map as never)).toThrow('Map is a class; register an instance: new Map()');
  expect(() => registry.registerTool(tool('a b'))).toThrow('not a valid tool name');
});

test.each<[string, (good: AnyTool) => object, string]>([
  ['a member that throws', (good) => Object.defineProperty(good, 'parameterSchema', { get: fail }), 'broken'],
  ['no time limit', (good) => Object.assign(good, { timeoutMs: undefined }), 'timeoutMs must be a number'],
  ['no function to run', (good) => Object.assign(good, { execute: 5 }), 'execute must be a function'],
  ['no description', (good) => Object.assign(good, { description: undefined }), 'description must be a string'],
])('a tool with %s is refused, and the others stay', (_title, spoil, reason) => {
  const registry = new ToolRegistry();
  const spoiled = spoil(tool('odd')) as AnyTool;
  expect(() => registry.registerTool(spoiled)).toThrow(reason);
  registry.replaceTools('server', [spoiled, tool('good')]);
  expect(names(registry)).toEqual(['good']);
  expect(registry.rejections()).toEqual([{ source: 'server', name: 'odd', reason: expect.stringContaining(reason) }]);
});

test.each<[unknown]>([[undefined], [null], [{}], [5]])('%j is not a tool', (value) => {
  expect(() => new ToolRegistry().registerTool(value as AnyTool)).toThrow('is not a tool');
});

test('a schema without a type is declared as that of an object, which some providers insist on', () => {
  const registry = new ToolRegistry();
  registry.registerTool(tool('any', '', {}));
  expect(registry.getFunctionDeclarations()[0]?.parametersJsonSchema).toEqual({ type: 'object' });
});

function fail(): never {
  throw new Error('broken');
}
