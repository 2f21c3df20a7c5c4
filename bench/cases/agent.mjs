import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { group, NotThere } from '../case.mjs';
import { clis, lathe, latheByFormat } from '../clis.mjs';
import { median } from '../measure.mjs';
import { modelStub } from '../model-stub.mjs';

const everybody = { lathe, ...clis };
const { codex, 'gemini-cli': gemini, 'qwen-cli': qwen } = clis;
const mcpServer = { command: process.execPath, args: [join(import.meta.dirname, '..', 'mcp-stub.mjs')] };
const mcpServers = Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`server${n}`, mcpServer]));
const files = 100;
const small = 'hello world\n';
/** With a page of code in every file, the window of the model is full every few hundred turns. */
const large = '  const value = compute(first, second, third);\n'.repeat(40);

/**
 * Every program on one prompt against a model that answers at once; `look` makes a sample of what the model saw, and of
 * the memory in use from the first request on, looked at every `memoryMs`.
 */
function agentCase({ plan, look, holdMs = 0, memoryMs, programs = everybody, servers, text = small, ...rest }) {
  const contestant = (cli) => async (place) => {
    const stub = await modelStub();
    const project = join(place.scratch, 'project');
    mkdirSync(project);
    for (let n = 0; n < files; n++) writeFileSync(join(project, `f${n}.txt`), `file ${n}\n${text}`);
    const { command, args, env } = cli.open(place, stub.url, servers);
    const call = (index, offered) => cli.read(join(project, `f${index % files}.txt`), offered);
    return {
      run: async () => {
        const memories = [];
        let timer;
        const started = performance.now();
        const child = spawn(command, [...args, ...cli.ask('go')], { cwd: project, env, stdio: 'ignore' });
        const sample = () => memories.push({ turn: stub.requests.length, megabytes: memoryOf(child.pid) });
        const onFirst = () => (timer = setInterval(sample, memoryMs));
        stub.reset({ ...plan, call }, { holdMs, onFirst: memoryMs && onFirst });
        await new Promise((resolve) => child.on('close', resolve));
        clearInterval(timer);
        const { requests } = stub;
        if (requests.length < plan.turns + 1) throw new Error(`${requests.length} of ${plan.turns + 1} requests came`);
        return { memory: 0, stall: 0, output: requests[0].body, ...(await look({ started, requests, memories })) };
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

/** Whether the last tenth of a long session costs what the first did, and needs no more memory than the first half. */
function longCase([format, cli]) {
  const turns = 2000;
  const tenth = turns / 10;
  return agentCase({
    name: `the last 200 of 2,000 turns against the first 200, over ${format}`,
    note: 'a window of 128,000 tokens, compacted whenever it is full; memory is what the second half adds',
    unit: '×',
    programs: { lathe: cli },
    plan: { turns, width: 1 },
    text: large,
    memoryMs: 500,
    look({ requests, memories }) {
      const gaps = gapsOf(requests);
      const most = (isMeant) => Math.max(...memories.filter(isMeant).map(({ megabytes }) => megabytes));
      return {
        count: median(gaps.slice(-tenth)) / median(gaps.slice(0, tenth)),
        memory: Math.max(0, most(({ turn }) => turn > turns - tenth) - most(({ turn }) => turn <= turns / 2)),
        // It was compacted: the last request is not the largest.
        output: requests.at(-1).body.length < Math.max(...requests.map(({ body }) => body.length)) ? 'compacted' : '',
      };
    },
    verify: (output) => output === 'compacted',
    goals: [
      { metric: 'count', limit: 1.5 },
      { metric: 'memory', limit: 32 },
    ],
    // One run is two thousand samples.
    rounds: 0,
    timeoutMs: 120_000,
  });
}

const than = (other, limit) => ({ metric: 'time', than: other, limit });

export const cases = group('agent', [
  agentCase({
    name: 'from the start of the process to the first request',
    note: 'memory is all that the program uses then',
    plan: { turns: 0, width: 1 },
    holdMs: 400,
    memoryMs: 200,
    look: ({ started, requests, memories }) => ({
      time: requests[0].arrived - started,
      memory: memories[0].megabytes,
    }),
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
    goals: [than('pi', 0.55)],
    rounds: 3,
  }),
  agentCase({
    name: 'from the start to the first request, with ten MCP servers of 20 tools',
    note: 'right is a request that offers the tools, or a way to find them; everybody has used the servers before',
    programs: { lathe, codex, 'gemini-cli': gemini, 'qwen-cli': qwen },
    servers: mcpServers,
    plan: { turns: 0, width: 1 },
    look: ({ started, requests }) => ({ time: requests[0].arrived - started }),
    verify: (output) => /server9|tool_search/.test(output),
    goals: [than('codex', 0.9), than('qwen-cli', 0.5)],
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
  ...Object.entries(latheByFormat).map(longCase),
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
