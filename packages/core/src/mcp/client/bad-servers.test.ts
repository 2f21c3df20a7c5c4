import { expect, test } from 'vitest';
import { badServer, badServers } from '../../../../../testing/bad-mcp-servers.js';
import { runFaultyServers } from '../../../../../testing/faulty-servers.js';
import { mcpWorld } from '../../../../../testing/mcp-world.js';
import { nobody } from '../../../../../testing/scheduler-kit.js';
import { defineTool } from '../../tools/tools.js';
import type { ServerDefinition } from './server-definition.js';

const never = new AbortController().signal;
const builtIn = defineTool({
  name: 'built_in',
  displayName: 'Built in',
  description: '',
  kind: 'read',
  parameterSchema: { type: 'object', properties: {} } as const,
  execute: async () => ({ llmContent: 'ok', returnDisplay: 'ok' }),
});

const world = (servers: ServerDefinition[]) => mcpWorld(servers, { tools: [builtIn], approver: nobody });

const faults = Object.entries(badServers);
const maxHeldMegabytes = 64;
/** What the system gave includes what the allocator keeps for later, so that it swings. */
const maxUsedMegabytes = 96;
const maxDelayMs = 1_000;

// RM01, RM02, RM03, RM04, RM05, RM06, RM07, RM08, RM09, RM10, RM11, RM12, RM15, SG16 (ids), SG17 (schemas), SG19
// (cursors): each server has a fault of its own, and one beside them has none.
test('the faults of a server affect no other server', { timeout: 180_000 }, async () => {
  expect(faults.length).toBeGreaterThanOrEqual(60);
  const { outcomes, calls, latest, held, used, survivors } = await runFaultyServers(badServers);
  expect(outcomes).toEqual({ ...badServers, none: 'ok' });
  expect(survivors).toEqual([]);
  expect(calls).toBeGreaterThan(10);
  // Every single call of another tool.
  expect(latest).toBeLessThan(maxDelayMs);
  expect(held).toBeLessThan(maxHeldMegabytes);
  expect(used).toBeLessThan(maxUsedMegabytes);
});

test('SG03, SG05: names never shadow, collide or reach the prototype', { timeout: 60_000 }, async () => {
  const { registry } = world(
    ['shadowing', 'prototype-names', 'strange-names', 'listed-twice'].map((fault) => badServer(fault)),
  );
  await registry.discover(never);
  const names = registry.getAllTools().map(({ name }) => name);
  expect(names).toEqual(
    expect.arrayContaining([
      'built_in',
      'shadowing__read_file',
      'shadowing__run_shell_command',
      'prototypenames____proto__',
    ]),
  );
  expect(names.filter((name) => name.startsWith('strangenames__'))).toHaveLength(6);
  for (const name of names) expect(name).toMatch(/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/);
  expect(new Set(names).size).toBe(names.length);
  expect(registry.rejections()).toMatchObject([
    { source: 'MCP server listed-twice', name: 'echo' },
    { source: 'MCP server listed-twice', name: 'echo' },
  ]);
});

test('RM16: fifty broken servers delay neither the other fifty nor the rest of the program', {
  timeout: 120_000,
}, async () => {
  const count = process.env['LATHE_LONG'] === '1' ? 100 : 20;
  const broken = ['exit-at-start', 'never-answers', 'half-frame', 'closes-stdout', 'drip'];
  const servers = Array.from({ length: count }, (_, index) => {
    const fault = index % 2 === 0 ? 'none' : (broken[index % broken.length] ?? 'none');
    const startTimeoutMs = fault === 'none' ? 60_000 : 2_000;
    return badServer(fault, { name: `s${index}`, alias: `s${index}`, startTimeoutMs });
  });
  const { registry, run } = world(servers);
  const discovering = registry.discover(never);
  expect((await run('built_in'))?.status).toBe('success');
  const failures = await discovering;
  expect(failures.size).toBe(count / 2);
  expect(registry.getAllTools()).toHaveLength(count / 2 + 1);
});
