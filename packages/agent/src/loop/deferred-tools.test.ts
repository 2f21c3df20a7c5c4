import { type AnyTool, defineTool, ToolRegistry } from '@lathe/core';
import { expect, test } from 'vitest';
import { agentKit, collect } from '../../../../testing/agent-kit.js';
import { DeferredTools } from './deferred-tools.js';

const never = new AbortController().signal;

function tool(name: string, description: string): AnyTool {
  return defineTool({
    name,
    displayName: name,
    description,
    kind: 'read',
    parameterSchema: { type: 'object', properties: {} } as const,
    execute: async () => ({ llmContent: `${name} ran`, returnDisplay: '' }),
  });
}

const many = (count: number) =>
  Array.from({ length: count }, (_, n) =>
    tool(`server__tool_${String(n).padStart(3, '0')}`, 'Does something. '.repeat(20)),
  );

function toolsOf(found: AnyTool[]) {
  const registry = new ToolRegistry();
  registry.registerTool(tool('look', 'Looks.'));
  registry.replaceTools('mcp:server', found);
  return { registry, tools: new DeferredTools(registry) };
}

const names = (tools: DeferredTools, window: number) => tools.declarations(window).map(({ name }) => name);

test('a few tools are all declared', () => {
  const { tools } = toolsOf(many(3));
  expect(names(tools, 100_000)).toEqual(['look', 'server__tool_000', 'server__tool_001', 'server__tool_002']);
});

test('when declarations would fill more than a tenth of the window, tools of servers are deferred', () => {
  const { tools } = toolsOf(many(200));
  expect(names(tools, 32_000)).toEqual(['look', 'tool_search']);
});

test('the same list object is returned until something changes', () => {
  const { tools, registry } = toolsOf(many(3));
  expect(tools.declarations(100_000)).toBe(tools.declarations(100_000));
  const before = tools.declarations(100_000);
  registry.replaceTools('mcp:server', many(2));
  expect(tools.declarations(100_000)).not.toBe(before);
});

test('built-in tools are never deferred, however small the window', () => {
  const { tools } = toolsOf([]);
  expect(names(tools, 10)).toEqual(['look']);
});

test('a model finds tools by keywords or name, gets them at the end of the list, and calls them', async () => {
  const { agent, model, registry } = agentKit(
    [
      { calls: [{ name: 'tool_search', args: { query: 'create issue' } }] },
      { calls: [{ name: 'github__createIssue' }, { name: 'tool_search', args: { query: 'select:server__tool_007' } }] },
      { calls: [{ name: 'tool_search', args: { query: 'quantum' } }] },
      { text: 'ok' },
    ],
    { contextWindow: 32_000, declare: (tools) => new DeferredTools(tools) },
  );
  registry.replaceTools('mcp:github', [...many(200), tool('github__createIssue', 'Opens a new issue.')]);
  await collect(agent.prompt('open an issue', never));
  const declared = model.requests.map(({ tools }) => tools.map(({ name }) => name));
  expect(declared).toEqual([
    ['look', 'note', 'tool_search'],
    ['look', 'note', 'tool_search', 'github__createIssue'],
    ['look', 'note', 'tool_search', 'github__createIssue', 'server__tool_007'],
    ['look', 'note', 'tool_search', 'github__createIssue', 'server__tool_007'],
  ]);
  expect(JSON.stringify(model.requests[2]?.history)).toContain('github__createIssue ran');
  expect(JSON.stringify(model.requests[3]?.history.at(-1))).toContain('No tool fits');
});
