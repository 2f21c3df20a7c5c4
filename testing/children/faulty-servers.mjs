// Runs the whole kit of faulty servers in a process of its own and reports what it cost: one line of JSON.
// To be started with --expose-gc.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLathe, defineTool } from '../../packages/core/dist/index.js';

const [faultsText = '{}', mark = ''] = process.argv.slice(2);
const faults = JSON.parse(faultsText);
const server = join(import.meta.dirname, 'bad-mcp-server.mjs');
const scratch = mkdtempSync(join(tmpdir(), 'lathe-faulty-'));
const pauseMs = 20;

const builtIn = defineTool({
  name: 'built_in',
  displayName: 'Built in',
  description: '',
  kind: 'read',
  parameterSchema: { type: 'object', properties: {} },
  execute: async () => ({ llmContent: 'ok', returnDisplay: 'ok' }),
});

const patience = { 'no tools': 8_000, 'times out': 60_000 };
const mcpServers = Object.fromEntries(
  [...Object.entries(faults), ['none', 'ok']].map(([fault, expected]) => [
    fault,
    {
      command: process.execPath,
      // The mark is how survivors are found afterwards.
      args: [server, fault, mark],
      trust: true,
      discoveryTimeoutMs: patience[expected] ?? 60_000,
      timeout: expected === 'times out' ? 3_000 : 60_000,
    },
  ]),
);

const lathe = await createLathe({
  cwd: scratch,
  env: { PATH: process.env.PATH },
  home: scratch,
  isTrusted: true,
  flags: { mcpServers },
  tools: [builtIn],
});
const call = async (name) =>
  (await lathe.host.openScheduler().run([{ id: name, name, args: {} }], new AbortController().signal))[0];

/**
 * How late each call of a built-in tool is done, from the moment it was due: a busy event loop counts too. What a busy
 * machine makes this process wait for a processor does not.
 */
async function watch(over) {
  const late = [];
  while (!over.aborted) {
    const due = performance.now() + pauseMs;
    const waitedBefore = waitedMs();
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    await call('built_in');
    late.push(performance.now() - due - (waitedMs() - waitedBefore));
  }
  return late;
}

/** How long this thread was ready to run and had no processor, where the system counts that. */
function waitedMs() {
  try {
    return Number(readFileSync('/proc/self/schedstat', 'utf8').split(' ')[1]) / 1e6;
  } catch {
    return 0;
  }
}

/** What the system gave this process. It includes what was freed and not yet given back, which varies by 20 MB. */
function usedMegabytes() {
  return process.memoryUsage.rss() / 1024 ** 2;
}

/** What is held after a collection: objects, and the buffers outside the heap. */
function heldMegabytes() {
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 1024 ** 2;
}

// One server that works comes first: what is loaded with it is not the doing of the others.
await lathe.discover(new AbortController().signal, 'none__echo');
await call('none__echo');
const before = { held: heldMegabytes(), used: usedMegabytes() };
const peak = { ...before };
const samplers = [
  setInterval(() => (peak.used = Math.max(peak.used, usedMegabytes())), 20),
  setInterval(() => (peak.held = Math.max(peak.held, heldMegabytes())), 500),
];
const over = new AbortController();
const watching = watch(over.signal);
await lathe.discover(new AbortController().signal);
const outcomes = await Promise.all(
  [...Object.keys(faults), 'none'].map(async (fault) => {
    const { client } = lathe.host.sources.servers.find((source) => source.client.serverName === fault);
    const name = `${client.definition.alias}__echo`;
    if (!lathe.tools.getTool(name)) return [fault, 'no tools'];
    const outcome = await call(name);
    if (outcome.error?.type === 'execution_timeout') return [fault, 'times out'];
    return [fault, outcome.status === 'success' ? 'ok' : 'fails'];
  }),
);
over.abort();
const late = await watching;
await lathe.close();
for (const sampler of samplers) clearInterval(sampler);
rmSync(scratch, { recursive: true, force: true });
console.log(
  JSON.stringify({
    outcomes: Object.fromEntries(outcomes),
    calls: late.length,
    latest: Math.max(...late),
    held: Math.round(peak.held - before.held),
    used: Math.round(peak.used - before.used),
  }),
);
