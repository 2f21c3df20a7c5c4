import { defineTool, ToolRegistry } from '@lathe/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { subagentTools } from './subagent-tools.js';

const builtIns = ['read_file', 'edit', 'write_file', 'run_shell_command', 'task', 'exit_plan_mode', 'tool_search'];
const found = ['github__search', 'github__close', 'slack__post'];

function tool(name: string) {
  return defineTool({
    name,
    displayName: name,
    description: name,
    kind: 'other',
    parameterSchema: { type: 'object' } as const,
    execute: async () => ({ llmContent: name, returnDisplay: name }),
  });
}

function registry(names: readonly string[] = builtIns, servers: readonly string[] = found): ToolRegistry {
  const all = new ToolRegistry();
  for (const name of names) all.registerTool(tool(name));
  for (const alias of ['github', 'slack'])
    all.replaceTools(`mcp:${alias}`, servers.filter((name) => name.startsWith(alias)).map(tool));
  return all;
}

const namesOf = (all: ToolRegistry) => all.getAllTools().map(({ name }) => name);

test('by default a subagent has the tools of its parent, but cannot leave plan mode or start others', () => {
  const own = subagentTools(registry(), {}, { mayDelegate: false, own: [] });
  expect(namesOf(own)).toEqual([
    'read_file',
    'edit',
    'write_file',
    'run_shell_command',
    'github__close',
    'github__search',
    'slack__post',
  ]);
  expect(own.entries().at(-1)?.source).toBe('mcp:slack');
  expect(namesOf(subagentTools(registry(), {}, { mayDelegate: true, own: [] }))).toContain('task');
});

test.each([
  [
    ['Read', 'Bash'],
    ['read_file', 'run_shell_command'],
  ],
  [['Edit'], ['edit']],
  [['github__*'], ['github__close', 'github__search']],
  [['mcp__slack__post'], ['slack__post']],
  [['no_such_tool', 'exit_plan_mode'], []],
  [[], []],
])('tools %j gives %j', (tools, expected) => {
  expect(namesOf(subagentTools(registry(), { tools }, { mayDelegate: false, own: [] }))).toEqual(expected);
});

test('an excluded tool is removed even if it is also included', () => {
  const wish = { tools: ['*'], withoutTools: ['Edit', 'github', 'slack__*'] };
  expect(namesOf(subagentTools(registry(), wish, { mayDelegate: false, own: [] }))).toEqual([
    'read_file',
    'run_shell_command',
  ]);
});

test('stateful tools are its own, and only those it may have', () => {
  const own = [tool('read_file'), tool('edit'), tool('save_memory'), tool('github__search')];
  const parent = registry();
  const child = subagentTools(parent, { withoutTools: ['Edit'] }, { mayDelegate: false, own });
  expect(child.getTool('read_file')).toBe(own[0]);
  expect(child.getTool('github__search')).toBe(parent.getTool('github__search'));
  expect([child.getTool('edit'), child.getTool('save_memory')]).toEqual([undefined, undefined]);
});

test('no definition gives a tool that the parent does not have', () => {
  const wish = fc.array(fc.constantFrom('*', 'Bash', 'Edit', 'github__*', 'yolo', ...builtIns, ...found));
  fc.assert(
    fc.property(
      fc.subarray(builtIns),
      fc.subarray(found),
      wish,
      wish,
      fc.boolean(),
      (has, servers, tools, withoutTools, mayDelegate) => {
        const parent = registry(has, servers);
        const child = subagentTools(parent, { tools, withoutTools }, { mayDelegate, own: [] });
        const grandchild = subagentTools(child, {}, { mayDelegate, own: [] });
        for (const { name } of child.getAllTools()) expect(parent.getTool(name)).toBe(child.getTool(name));
        for (const name of namesOf(grandchild)) expect(child.getTool(name)).toBeDefined();
      },
    ),
    { numRuns: 200 },
  );
});
