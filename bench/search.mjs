// How far the search tools are from the raw programs they stand on: `node bench/search.mjs DIRECTORY [rounds]` after a build.
// DIRECTORY holds the corpora that exist: linux/ (a kernel tree in git), flat/ (100,000 files), oneline.txt (200 MB, one line).
// Raw and tool runs alternate, so that other work on the machine meets both; the ratio is that of the medians.
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { rgPath } from '@vscode/ripgrep';
import { GlobTool, GrepTool, IgnoreRules, LSTool, Ripgrep, Workspace } from '../packages/core/dist/index.js';

const corpora = realpathSync(process.argv[2] ?? 'corpora');
const rounds = Number(process.argv[3] ?? 7);

const rows = [
  ['grep rare literal', 'linux', ['rg', 'zzqq_rare'], 'grep', { pattern: 'zzqq_rare' }, 1.08],
  ['grep 20,000 hits, first 100', 'linux', ['rg', 'kmalloc|kzalloc'], 'grep', { pattern: 'kmalloc|kzalloc' }, 0.06],
  ['grep in *.c', 'linux', ['rg', '-g', '*.c', 'zzqq_rare'], 'grep', { pattern: 'zzqq_rare', glob: '*.c' }, 1.3],
  ['grep literal in 100,000 files', 'flat', ['rg', 'zzqq_rare'], 'grep', { pattern: 'zzqq_rare' }, 1.2],
  ['grep in a line of 200 MB', 'oneline.txt', ['rg', 'k9000000"'], 'grep', { pattern: 'k9000000"' }, 3],
  ['glob **/*', 'linux', ['rg', '--files'], 'glob', { pattern: '**/*' }, 1.8],
  ['glob **/*.c', 'linux', ['rg', '--files', '-g', '*.c'], 'glob', { pattern: '**/*.c' }, 1.8],
  ['glob *.txt', 'flat', ['rg', '--files'], 'glob', { pattern: '*.txt' }, 4],
  ['list_directory', 'flat', ['readdir'], 'ls', {}, 3],
];

const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];

async function timed(work) {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

function raw([program, ...args], path) {
  if (program === 'readdir') return void readdirSync(path);
  return new Promise((resolve, reject) => {
    const child = spawn(rgPath, ['--no-config', '--smart-case', ...args, path], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    child.stdout.resume();
    child.on('close', resolve).on('error', reject);
  });
}

async function toolsIn(directory) {
  const workspace = await Workspace.open(directory);
  const visibility = { rules: new IgnoreRules(workspace.roots) };
  return {
    grep: new GrepTool(workspace, visibility, new Ripgrep()),
    glob: new GlobTool(workspace, visibility),
    ls: new LSTool(workspace, visibility),
  };
}

async function measure([label, corpus, command, tool, params, goal]) {
  const path = join(corpora, corpus);
  if (!existsSync(path)) return { work: label, ratio: 'no corpus' };
  const tools = await toolsIn(corpora);
  const run = () => tools[tool].execute({ ...params, path }, new AbortController().signal);
  const times = { raw: [], ours: [] };
  const before = process.memoryUsage.rss();
  let [peak, stall, lastTick] = [before, 0, Number.POSITIVE_INFINITY];
  const tick = () => {
    stall = Math.max(stall, performance.now() - lastTick);
    lastTick = performance.now();
    peak = Math.max(peak, process.memoryUsage.rss());
  };
  for (let round = 0; round <= rounds; round++) {
    const rawMs = await timed(() => raw(command, path));
    if (round === 1) stall = 0; // the first round warms caches and compilers
    lastTick = performance.now();
    const sampler = setInterval(tick, 1);
    const ourMs = await timed(run);
    clearInterval(sampler);
    tick();
    if (round === 0) continue;
    times.raw.push(rawMs);
    times.ours.push(ourMs);
  }
  const ratio = median(times.ours) / median(times.raw);
  return {
    work: label,
    'raw ms': Math.round(median(times.raw)),
    'our ms': Math.round(median(times.ours)),
    ratio: ratio.toFixed(2),
    goal,
    'stall ms': Math.round(stall),
    '+MB': Math.round((peak - before) / 1e6),
  };
}

const only = process.argv[4];
const results = [];
for (const row of rows) if (only === undefined || row[0].includes(only)) results.push(await measure(row));
console.table(results);
