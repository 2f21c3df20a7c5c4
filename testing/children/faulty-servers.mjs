// Runs the whole kit of faulty servers in a process of its own and reports what it cost: one line of JSON.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLathe, defineTool } from '../../packages/core/dist/index.js';

const [faultsText = '{}', mark = ''] = process.argv.slice(2);
const faults = JSON.parse(faultsText);
const server = join(import.meta.dirname, 'bad-mcp-server.mjs');
const scratch = mkdtempSync(join(tmpdir(), 'lathe-faulty-'));
const never = new AbortController().signal;
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
// What is loaded once in a process, whatever the servers do.
await import('../../packages/core/dist/mcp/open-session.js');
const call = async (name) => (await lathe.openScheduler().run([{ id: name, name, args: {} }], never))[0];

/**
 * How late each call of a built-in tool is done, from the moment it was due: a busy event loop counts too. `worked` is
 * the processor time this process used meanwhile, which leaves out what a busy machine makes it wait.
 */
async function watch(over) {
  const delays = [];
  while (!over.aborted) {
    const due = performance.now() + pauseMs;
    const before = process.cpuUsage();
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    await call('built_in');
    const { user, system } = process.cpuUsage(before);
    delays.push({ late: performance.now() - due, worked: (user + system) / 1_000 });
  }
  return delays;
}

const rss = () => process.memoryUsage.rss() / 1024 ** 2;
const before = rss();
let peak = before;
const sampler = setInterval(() => {
  peak = Math.max(peak, rss());
}, 20);
const over = new AbortController();
const watching = watch(over.signal);
await lathe.discover(never);
const outcomes = await Promise.all(
  [...Object.keys(faults), 'none'].map(async (fault) => {
    const { client } = lathe.sources.servers.find((source) => source.client.serverName === fault);
    const name = `${client.definition.alias}__echo`;
    if (!lathe.registry.getTool(name)) return [fault, 'no tools'];
    const outcome = await call(name);
    if (outcome.error?.type === 'execution_timeout') return [fault, 'times out'];
    return [fault, outcome.status === 'success' ? 'ok' : 'fails'];
  }),
);
over.abort();
const delays = await watching;
await lathe.close();
clearInterval(sampler);
rmSync(scratch, { recursive: true, force: true });
console.log(
  JSON.stringify({
    outcomes: Object.fromEntries(outcomes),
    late: delays.map(({ late }) => late).sort((a, b) => a - b),
    mostWorked: Math.max(...delays.map(({ worked }) => worked)),
    addedMegabytes: Math.round(peak - before),
  }),
);
