// run_shell_command against a bare spawn, interleaved in one run, and how long an abort takes. `node bench/shell.mjs [rounds]`
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  analyzeCommand,
  BackgroundCommands,
  CommandRunner,
  childEnvironment,
  LatheHome,
  Sandbox,
  ShellTool,
  unattendedVariables,
  Workspace,
} from '../packages/core/dist/index.js';

const rounds = Number(process.argv[2] ?? 60);
const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'lathe-bench-')));
const never = new AbortController().signal;
const env = childEnvironment(process.env, { set: unattendedVariables });
const plain = await shellTool('off');
const sandboxed = await shellTool('required');

console.log(`echo hi, ${rounds} rounds`);
report(
  await interleaved(rounds, {
    'bare bash -c': () => bare('echo hi'),
    'no sandbox': () => run(plain, 'echo hi'),
    sandbox: () => run(sandboxed, 'echo hi'),
  }),
);

console.log('\nyes | head -c 50M');
report(
  await interleaved(Math.max(5, Math.round(rounds / 10)), {
    'plain pipe': () => bare('yes | head -c 50M'),
    // On a busy machine Linux shares the processor between sessions, which alone makes this slower.
    'own session': () => bare('yes | head -c 50M', { detached: true }),
    'no sandbox': () => run(plain, 'yes | head -c 50M'),
    sandbox: () => run(sandboxed, 'yes | head -c 50M'),
  }),
);

console.log('\npeak memory of yes | head -c 500M above the start, and the longest stall');
for (const [name, tool] of [
  ['no sandbox', plain],
  ['sandbox', sandboxed],
]) {
  const { peak, stall } = await watched(() => run(tool, 'yes | head -c 500M'));
  console.log(`  ${name.padEnd(14)} +${(peak / 2 ** 20).toFixed(0)} MB, ${stall.toFixed(0)} ms`);
}

console.log(`\nabort of a hostile tree to result, ${rounds * 2} aborts each`);
const hostile = [
  'sleep 1000',
  'trap "" TERM INT HUP; while :; do sleep 1000; done',
  '(setsid nohup sleep 1000 >/dev/null 2>&1 &); sleep 1000',
  'env -i setsid /bin/bash -c \'trap "" TERM; while :; do /bin/sleep 1000; done\' & wait',
  'while :; do (setsid sleep 1000 &); sleep 0.02; done',
];
for (const [name, tool] of [
  ['no sandbox', plain],
  ['sandbox', sandboxed],
]) {
  const times = [];
  for (let i = 0; i < rounds * 2; i++) times.push(await abortTime(tool, hostile[i % hostile.length]));
  times.sort((a, b) => a - b);
  const at = (share) => times[Math.min(times.length - 1, Math.floor(times.length * share))].toFixed(0);
  console.log(`  ${name.padEnd(14)} p50 ${at(0.5)} ms, p90 ${at(0.9)} ms, p99 ${at(0.99)} ms, max ${at(1)} ms`);
}

rmSync(scratch, { recursive: true, force: true });

async function shellTool(mode) {
  const root = join(scratch, mode);
  mkdirSync(join(root, '.git', 'hooks'), { recursive: true });
  const workspace = await Workspace.open(root);
  const latheHome = new LatheHome(join(scratch, `${mode}-home`));
  const runner = new CommandRunner(latheHome);
  const sandbox = new Sandbox({ mode, roots: workspace.roots, latheHome, userHome: env.HOME ?? '/' });
  const background = new BackgroundCommands(runner);
  return new ShellTool({ workspace, runner, sandbox, background, analyze: analyzeCommand, env });
}

async function run(tool, command) {
  const { error } = await tool.execute({ command }, never);
  if (error) throw new Error(error.message);
}

function bare(command, options = {}) {
  return new Promise((resolve) => {
    const child = spawn('/bin/bash', ['-c', command], { stdio: ['ignore', 'pipe', 'pipe'], env, ...options });
    child.stdout.on('data', () => {});
    child.on('close', resolve);
  });
}

async function abortTime(tool, command) {
  const controller = new AbortController();
  const running = tool.execute({ command }, controller.signal);
  await new Promise((resolve) => setTimeout(resolve, 20 + Math.random() * 80));
  const start = performance.now();
  controller.abort();
  await running;
  return performance.now() - start;
}

async function interleaved(count, variants) {
  for (const variant of Object.values(variants)) await variant();
  const times = Object.fromEntries(Object.keys(variants).map((name) => [name, []]));
  for (let i = 0; i < count; i++) {
    for (const [name, variant] of Object.entries(variants)) {
      const start = performance.now();
      await variant();
      times[name].push(performance.now() - start);
    }
  }
  return times;
}

/** Medians, and their ratio to the first variant. */
function report(times) {
  const medians = Object.entries(times).map(([name, list]) => [name, list.sort((a, b) => a - b)[list.length >> 1]]);
  for (const [name, median] of medians)
    console.log(`  ${name.padEnd(14)} ${median.toFixed(2).padStart(8)} ms  ${(median / medians[0][1]).toFixed(2)} ×`);
}

async function watched(action) {
  globalThis.gc?.();
  const start = process.memoryUsage().rss;
  let [peak, stall, last] = [0, 0, performance.now()];
  const timer = setInterval(() => {
    const now = performance.now();
    stall = Math.max(stall, now - last - 5);
    last = now;
    peak = Math.max(peak, process.memoryUsage().rss - start);
  }, 5);
  await action();
  clearInterval(timer);
  return { peak, stall };
}
