import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { group, NotThere } from '../case.mjs';
import { clis, lathe } from '../clis.mjs';
import { modelStub } from '../model-stub.mjs';

const everybody = { lathe, ...clis };
const { codex, 'gemini-cli': gemini, 'qwen-cli': qwen } = clis;
const mcpServer = { command: process.execPath, args: [join(import.meta.dirname, '..', 'mcp-stub.mjs')] };
const mcpServers = Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`server${n}`, mcpServer]));
const files = 100;

/** Every program on one prompt against a model that answers at once; `look` makes a sample of what the model saw. */
function agentCase({ plan, look, holdMs = 0, programs = everybody, servers, ...rest }) {
  const contestant = (cli) => async (place) => {
    const stub = await modelStub();
    const project = join(place.scratch, 'project');
    mkdirSync(project);
    for (let n = 0; n < files; n++) writeFileSync(join(project, `f${n}.txt`), `file ${n}\nhello world\n`);
    const { command, args, env } = cli.open(place, stub.url, servers);
    const call = (index, offered) => cli.read(join(project, `f${index % files}.txt`), offered);
    return {
      run: async () => {
        let memory = 0;
        const started = performance.now();
        const child = spawn(command, [...args, ...cli.ask('go')], { cwd: project, env, stdio: 'ignore' });
        const measure = () => setTimeout(() => (memory = memoryOf(child.pid)), holdMs / 2);
        stub.reset({ ...plan, call }, { holdMs, onFirst: holdMs > 0 ? measure : undefined });
        await new Promise((resolve) => child.on('close', resolve));
        const { requests } = stub;
        if (requests.length < plan.turns + 1) throw new Error(`${requests.length} of ${plan.turns + 1} requests came`);
        return { memory, stall: 0, output: requests[0].body, ...(await look({ started, requests })) };
      },
      close: () => stub.close(),
    };
  };
  return {
    contestants: Object.fromEntries(Object.entries(programs).map(([name, cli]) => [name, contestant(cli)])),
    rounds: 5,
    timeoutMs: 60_000,
    ...rest,
  };
}

const than = (other, limit) => ({ metric: 'time', than: other, limit });

export const cases = group('agent', [
  agentCase({
    name: 'from the start of the process to the first request',
    note: 'memory is all that the program uses then',
    plan: { turns: 0, width: 1 },
    holdMs: 400,
    look: ({ started, requests }) => ({ time: requests[0].arrived - started }),
    goals: [than('codex', 1), than('qwen-cli', 0.15), { metric: 'memory', limit: 120, guard: 160 }],
    isQuick: true,
  }),
  agentCase({
    name: 'a round trip, of 100 one after another',
    plan: { turns: 100, width: 1 },
    look: ({ requests }) => ({ time: mean(gapsOf(requests)) }),
    goals: [than('pi', 0.7)],
    rounds: 2,
  }),
  agentCase({
    name: '50 reads in one turn',
    plan: { turns: 1, width: 50 },
    look: ({ requests }) => ({ time: gapsOf(requests)[0] }),
    goals: [than('pi', 0.6)],
    rounds: 3,
  }),
  agentCase({
    name: 'from the start to the first request, with ten MCP servers of 20 tools',
    note: 'right is a request that offers the tools, or a way to find them',
    programs: { lathe, codex, 'gemini-cli': gemini, 'qwen-cli': qwen },
    servers: mcpServers,
    plan: { turns: 0, width: 1 },
    look: ({ started, requests }) => ({ time: requests[0].arrived - started }),
    verify: (output) => /server9|tool_search/.test(output),
    goals: [than('codex', 1), than('qwen-cli', 0.5)],
    rounds: 3,
  }),
  agentCase({
    name: 'tokens of the first request',
    unit: 'tokens',
    plan: { turns: 0, width: 1 },
    look: async ({ requests }) => ({ count: await tokensOf(requests[0].body) }),
    goals: [{ metric: 'count', limit: 3200 }],
    rounds: 1,
  }),
]);

/** Between the end of an answer and the arrival of the next request. */
function gapsOf(requests) {
  return requests.slice(1).map(({ arrived }, index) => arrived - requests[index].answered);
}

function mean(numbers) {
  return numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
}

async function tokensOf(body) {
  const { encode } = await import('gpt-tokenizer/encoding/o200k_base').catch(() => {
    throw new NotThere('needs npm install in bench/');
  });
  return encode(body, { allowedSpecial: 'all' }).length;
}

/** MB that a process and all below it hold in memory. */
function memoryOf(pid) {
  const children = new Map();
  for (const other of readdirSync('/proc').map(Number).filter(Boolean)) {
    const parent = Number(/\) \S (\d+)/.exec(read(`/proc/${other}/stat`))?.[1] ?? 0);
    children.set(parent, [...(children.get(parent) ?? []), other]);
  }
  const all = [pid];
  for (const one of all) all.push(...(children.get(one) ?? []));
  const kilobytes = all.map((one) => Number(/^VmRSS:\s+(\d+)/m.exec(read(`/proc/${one}/status`))?.[1] ?? 0));
  return kilobytes.reduce((sum, one) => sum + one, 0) / 1024;
}

function read(path) {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
