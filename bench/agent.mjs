// The whole program against a model that answers at once, beside other agents: process start to the first request,
// memory then, 100 round trips one after another, 50 reads in one turn, and 2,000 turns of our own.
//   node bench/agent.mjs [PEERS] [--rounds 5] [--only first,seq,par,long]
// PEERS (or $LATHE_PEERS) is a folder with codex/, qwen-cli/ and pi/, each an npm installation of that program, and
// optionally node22/ with a newer Node for those that need it; peers that are not there are left out. After a build.
import { spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { modelStub } from './model-stub.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: 'string', default: '5' }, only: { type: 'string', default: 'first,seq,par,long' } },
});
const peers = positionals[0] ?? process.env['LATHE_PEERS'];
const rounds = Number(values.rounds);
const scratch = mkdtempSync(join(tmpdir(), 'lathe-bench-'));
const files = 400;

const newerNode = join(peers ?? '', 'node22/node_modules/node/bin/node');
const bin = (folder, name) => join(peers ?? '', folder, 'node_modules/.bin', name);

/** How each program is started on one prompt, and how its model would ask it to read a file. */
const programs = {
  lathe: {
    path: join(import.meta.dirname, '../packages/cli/dist/main.js'),
    node: process.execPath,
    args: ['--yolo', '-p', 'go'],
    env: (url) => ({ OPENAI_API_KEY: 'stub', OPENAI_BASE_URL: `${url}/v1`, OPENAI_MODEL: 'stub' }),
    read: (file) => ({ name: 'read_file', args: { absolute_path: file } }),
  },
  codex: {
    path: bin('codex', 'codex'),
    args: ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', 'go'],
    env: () => ({ STUB_KEY: 'x' }),
    files: (url) => ({
      '.codex/config.toml': `model = "stub"\nmodel_provider = "stub"\ncheck_for_update_on_startup = false
[model_providers.stub]\nname = "stub"\nbase_url = "${url}/v1"\nwire_api = "responses"\nenv_key = "STUB_KEY"
[analytics]\nenabled = false\n[features]\napps = false\nplugins = false\n`,
    }),
    read: (file, offered) =>
      offered.includes('exec_command')
        ? { name: 'exec_command', args: { cmd: `cat ${file}` } }
        : { name: 'shell_command', args: { command: `cat ${file}` } },
  },
  qwen: {
    path: bin('qwen-cli', 'qwen'),
    args: ['--auth-type', 'openai', '-m', 'stub', '--approval-mode', 'yolo', 'go'],
    env: (url) => ({ OPENAI_API_KEY: 'stub', OPENAI_BASE_URL: `${url}/v1`, OPENAI_MODEL: 'stub', QWEN_MODEL: 'stub' }),
    files: () => ({
      '.qwen/settings.json': JSON.stringify({
        $version: 4,
        general: { disableAutoUpdate: true, enableAutoUpdate: false },
        privacy: { usageStatisticsEnabled: false },
        telemetry: { enabled: false },
        security: { auth: { selectedType: 'openai' }, folderTrust: { enabled: false } },
      }),
    }),
    read: (file) => ({ name: 'read_file', args: { file_path: file } }),
  },
  pi: {
    path: bin('pi', 'pi'),
    node: process.execPath,
    args: ['--provider', 'stub', '--model', 'stub', '-p', 'go'],
    env: () => ({ PI_OFFLINE: '1', PI_SKIP_VERSION_CHECK: '1' }),
    files: (url) => ({
      '.pi/agent/models.json': JSON.stringify({
        providers: {
          stub: {
            baseUrl: `${url}/v1`,
            api: 'openai-completions',
            apiKey: 'x',
            compat: { supportsDeveloperRole: false, supportsReasoningEffort: false },
            models: [{ id: 'stub', contextWindow: 1_000_000, maxTokens: 8000 }],
          },
        },
      }),
    }),
    read: (file) => ({ name: 'read', args: { path: file } }),
  },
};

/** Runs a program on one prompt to its end; `onFirst` sees its process while the model still thinks. */
async function run(name, stub, plan, { holdMs = 0, onFirst, timeoutMs = 120_000 } = {}) {
  const { path, node = existsSync(newerNode) ? newerNode : process.execPath, args, env } = programs[name];
  const started = performance.now();
  const child = spawn(node, [realpathSync(path), ...args], {
    cwd: join(scratch, 'project'),
    env: environment(name, node, env(stub.url)),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let complaint = '';
  child.stderr.on('data', (chunk) => (complaint = `${complaint}${chunk}`.slice(-500)));
  stub.reset(plan, { holdMs, onFirst: onFirst && (() => onFirst(child.pid)) });
  const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs);
  await new Promise((resolve) => child.on('close', resolve));
  clearTimeout(timer);
  const { requests } = stub;
  if (requests.length < plan.turns + 1) throw new Error(`${name}: ${requests.length} requests. ${complaint}`);
  return { started, requests };
}

function environment(name, node, own) {
  const home = join(scratch, 'homes', name);
  return {
    PATH: `${dirname(node)}:/usr/local/bin:/usr/bin:/bin`,
    HOME: home,
    TERM: 'dumb',
    LANG: 'C.UTF-8',
    NO_COLOR: '1',
    CI: '1',
    SHELL: '/bin/bash',
    DO_NOT_TRACK: '1',
    ...own,
  };
}

function prepare(url) {
  const project = join(scratch, 'project');
  mkdirSync(project);
  for (let index = 0; index < files; index++) writeFileSync(fileNamed(index), `file ${index}\nhello world\n`);
  for (const [name, program] of Object.entries(programs))
    for (const [path, text] of Object.entries({ '.keep': '', ...program.files?.(url) })) {
      const file = join(scratch, 'homes', name, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
    }
}

const fileNamed = (index) => join(scratch, 'project', `f${String(index % files).padStart(3, '0')}.txt`);
const reading = (name, turns, width) => ({
  turns,
  width,
  call: (index, offered) => programs[name].read(fileNamed(index), offered),
});

/** Memory of a process and all its children, in MB, as the system counts it. */
function memoryOf(pid) {
  const children = new Map();
  for (const entry of readdirSync('/proc').filter((each) => /^\d+$/.test(each))) {
    const stat = readText(`/proc/${entry}/stat`);
    const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
    children.set(parent, [...(children.get(parent) ?? []), Number(entry)]);
  }
  const sum = (id) =>
    Number(/^Rss:\s+(\d+)/m.exec(readText(`/proc/${id}/smaps_rollup`))?.[1] ?? 0) +
    (children.get(id) ?? []).reduce((total, child) => total + sum(child), 0);
  return sum(pid) / 1024;
}

function readText(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** Time between the end of one answer and the next request: what the program itself takes for a turn. */
const gapsOf = (requests) => requests.slice(1).map(({ arrived }, index) => arrived - requests[index].answered);
const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];
const sum = (numbers) => numbers.reduce((total, each) => total + each, 0);

const cases = {
  async first(name, stub) {
    let memory = 0;
    const holdMs = 400;
    const { started, requests } = await run(name, stub, reading(name, 0, 0), {
      holdMs,
      onFirst: (pid) => setTimeout(() => (memory = memoryOf(pid)), holdMs - 100),
    });
    const { arrived, body, tools } = requests[0];
    return { ms: arrived - started, memory, bytes: body.length, tools };
  },
  seq: async (name, stub) => ({ ms: sum(gapsOf((await run(name, stub, reading(name, 100, 1))).requests)) }),
  par: async (name, stub) => ({ ms: sum(gapsOf((await run(name, stub, reading(name, 1, 50))).requests)) }),
};

const titles = {
  first: 'start to first request',
  seq: '100 round trips',
  par: '50 reads in one turn',
};
/** Which peers a case is held against, and how much of their time we may take. */
const goals = { first: { codex: 1, qwen: 0.15 }, seq: { pi: 0.7 }, par: { pi: 0.6 } };

/** Interleaved rounds, so that a busy moment of the machine hits everybody alike; the first one only warms up. */
async function compare(title, stub) {
  const names = ['lathe', ...Object.keys(goals[title])].filter((name) => existsSync(programs[name].path));
  const results = Object.fromEntries(names.map((name) => [name, []]));
  for (let round = -1; round < rounds; round++)
    for (const name of names) {
      const result = await cases[title](name, stub);
      if (round >= 0) results[name].push(result);
    }
  const of = (name, field) => median(results[name].map((each) => each[field]));
  for (const name of names) {
    const goal = goals[title][name];
    const ratio = of('lathe', 'ms') / of(name, 'ms');
    const against =
      goal === undefined ? '' : `  we take ${ratio.toFixed(2)} × (goal ${goal})${ratio > goal ? '  MISSED' : ''}`;
    const more =
      title === 'first'
        ? `  ${of(name, 'memory').toFixed(0)} MB  ${of(name, 'bytes')} bytes, ${of(name, 'tools')} tools`
        : '';
    console.log(
      `${titles[title].padEnd(24)} ${name.padEnd(6)} ${of(name, 'ms').toFixed(0).padStart(6)} ms${more}${against}`,
    );
    if (ratio > goal) process.exitCode = 1;
  }
}

/** 2,000 turns: what one costs in the end, beside what it costs in the beginning. */
async function long(stub) {
  const memory = [];
  let timer;
  const { requests } = await run('lathe', stub, reading('lathe', 2000, 1), {
    timeoutMs: 200_000,
    onFirst: (pid) => (timer = setInterval(() => memory.push(memoryOf(pid)), 500)),
  });
  clearInterval(timer);
  const gaps = gapsOf(requests);
  const tenth = (from) => median(gaps.slice(from * 200, from * 200 + 200));
  const sizes = [0, 9].map((from) => requests[from * 200 + 199].body.length);
  console.log(
    `2,000 turns, per turn      first tenth ${tenth(0).toFixed(1)} ms at ${sizes[0]} bytes, last tenth ${tenth(9).toFixed(1)} ms at ${sizes[1]} bytes`,
  );
  console.log(
    `2,000 turns, memory        ${memory
      .filter((_, index) => index % Math.ceil(memory.length / 10) === 0)
      .map((each) => each.toFixed(0))
      .join(' ')} MB`,
  );
}

const stub = await modelStub();
try {
  prepare(stub.url);
  for (const title of values.only.split(',')) await (title === 'long' ? long(stub) : compare(title, stub));
} finally {
  stub.close();
  rmSync(scratch, { recursive: true, force: true });
}
