import { expect, test } from 'vitest';
import { badServer, badServers } from '../../../../testing/bad-mcp-servers.js';
import { mcpWorld } from '../../../../testing/mcp-world.js';
import { nobody } from '../../../../testing/scheduler-kit.js';
import { isAlive } from '../process/call-mark.js';
import { defineTool } from '../tools/tools.js';
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

const pauseMs = 20;

/** How long calls of a built-in tool take while other things go on. */
function watchBuiltIn(run: ReturnType<typeof world>['run']) {
  const over = new AbortController();
  const delays: number[] = [];
  const done = (async () => {
    while (!over.signal.aborted) {
      // From the moment the call is due: a busy event loop counts as delay too.
      const due = performance.now() + pauseMs;
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
      await run('built_in');
      delays.push(performance.now() - due);
    }
  })();
  return async () => {
    over.abort();
    await done;
    return delays;
  };
}

const faults = Object.entries(badServers);
const patient = (expected: string) => (expected === 'no tools' ? 8_000 : 60_000);

test('every fault stays the problem of the server that has it', { timeout: 180_000 }, async () => {
  expect(faults.length).toBeGreaterThanOrEqual(40);
  const servers = faults.map(([fault, expected]) =>
    badServer(fault, { startTimeoutMs: patient(expected), timeoutMs: expected === 'times out' ? 3_000 : 60_000 }),
  );
  const { registry, run, pids, close } = world([...servers, badServer('none')]);
  // Loaded once in a process; the test runner compiles it, which is not what is measured.
  await Promise.all([import('./open-session.js'), import('./call-tool.js')]);
  const stopWatching = watchBuiltIn(run);
  const failures = await registry.discover(never);
  const names = registry.getAllTools().map(({ name }) => name);
  const outcomes = await Promise.all(
    [...faults, ['none', 'ok'] as const].map(async ([fault, expected]) => {
      const name = `${fault.replaceAll('-', '')}__echo`;
      if (!names.includes(name)) return [fault, 'no tools'];
      const outcome = await run(name);
      if (outcome?.error?.type === 'execution_timeout') return [fault, 'times out'];
      if (outcome?.status === 'success') return [fault, 'ok'];
      return [fault, expected === 'ok' ? outcome?.error?.message : 'fails'];
    }),
  );
  expect(Object.fromEntries(outcomes)).toEqual({ ...badServers, none: 'ok' });
  expect(failures.get('MCP server none')).toBeUndefined();
  const delays = await stopWatching();
  expect(delays.length).toBeGreaterThan(10);
  // Nine in ten: sixty processes start at once, and the machine may have other things to do.
  expect(delays.sort((a, b) => a - b)[Math.floor(delays.length * 0.9)]).toBeLessThan(1_000);
  await close();
  expect(pids.filter(isAlive)).toEqual([]);
});

test('names never shadow, collide or reach the prototype', { timeout: 60_000 }, async () => {
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

test('half of a hundred servers broken hold up neither the others nor anybody else', { timeout: 120_000 }, async () => {
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
