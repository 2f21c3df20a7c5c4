// npm run bench: us, the peers and the raw limit side by side. Says how to use it with --help.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { setup } from '../scripts/setup.mjs';
import { writeChart } from './chart.mjs';
import { makeCorpora } from './corpora.mjs';
import { writeGrowthChart } from './growth-chart.mjs';
import { judge } from './judge.mjs';
import { measure } from './measure.mjs';
import { installedVersion, installPeers, peers } from './peers.mjs';
import { line, writeReport } from './report.mjs';

const help = `npm run bench -- [options]

  --quick         small corpora, no peers, generous limits, under five minutes; fails when a limit is exceeded thrice
  --only REGEX    cases whose "group: name" matches
  --rounds N      at most so many rounds each
  --no-peers      only ourselves and the raw limit
  --list          the names of the cases
  --report        measures nothing: writes the pages anew from the results that were kept

Peers and corpora are kept in $LATHE_BENCH_DIR (bench/.work when not set; some 8 GB).
With peers, results go to bench/RESULTS.md and bench/results.svg after every case; the others keep their last figures.`;

const { options, only, rounds } = readOptions();
if (options.help) {
  console.log(help);
  process.exit();
}

setup();
const isQuick = options.quick;
const hasPeers = !isQuick && !options['no-peers'];
const directory = resolve(process.env.LATHE_BENCH_DIR ?? join(import.meta.dirname, '.work'));
const place = {
  corpora: join(directory, isQuick ? 'corpora-quick' : 'corpora'),
  peers: join(directory, 'peers'),
  isQuick,
};
// Figures beside the peers are not replaced by some without.
const file = join(directory, `results${isQuick ? '-quick' : hasPeers ? '' : '-alone'}.json`);
const cases = await allCases();
const chosen = cases.filter(isChosen);
if (chosen.length === 0) wrongUsage(`no case matches ${options.only}; --list names them`);
if (options.report && !(hasPeers && existsSync(file)))
  wrongUsage(`${file} is not there: --report needs results beside the peers`);
if (options.list) for (const { group, name } of chosen) console.log(`${group}: ${name}`);
if (options.report) writePages();
if (options.list || options.report) process.exit();

mkdirSync(place.corpora, { recursive: true });
if (hasPeers) await installPeers(place.peers);
if (!isQuick) installOwn();
const corpora = makeCorpora(place.corpora, [...new Set(chosen.flatMap(({ corpora: needed = [] }) => needed))], {
  isQuick,
});
const scratch = join(directory, `scratch-${process.pid}`);
const failures = [];
let count = 0;

for (const one of chosen) {
  const lacks = one.corpora?.find((name) => !corpora.has(name));
  if (lacks) {
    console.log(`\n${one.group}: ${one.name}: left out, there is no corpus ${lacks}`);
    continue;
  }
  count++;
  console.log(`\n${one.group}: ${one.name}`);
  const { results, verdicts } = await measured(one);
  for (const [name, result] of Object.entries(results)) console.log(line(name, result, results.raw));
  for (const verdict of verdicts) console.log(`  ${verdict.isMet ? 'met   ' : 'MISSED'} ${verdict.text}`);
  failures.push(...verdicts.filter(({ isMet }) => !isMet).map(({ text }) => `${one.group}: ${one.name}: ${text}`));
  keep(one, results, verdicts);
  // Only a run beside the peers makes the pages.
  if (hasPeers) writePages();
}
rmSync(scratch, { recursive: true, force: true });

console.log(`\n${count} of ${chosen.length} cases, ${failures.length} goals missed`);
for (const failure of failures) console.log(`  ${failure}`);
// A full run reports; only a quick one, with its generous limits, is a guard.
process.exitCode = isQuick && failures.length > 0 ? 1 : 0;

function readOptions() {
  try {
    const { values } = parseArgs({
      options: {
        quick: { type: 'boolean', default: false },
        only: { type: 'string', default: '' },
        rounds: { type: 'string', default: '20' },
        'no-peers': { type: 'boolean', default: false },
        list: { type: 'boolean', default: false },
        report: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
    if (!/^[1-9]\d{0,3}$/.test(values.rounds)) throw new Error(`--rounds takes a number, not ${values.rounds}`);
    return { options: values, only: new RegExp(values.only, 'i'), rounds: Number(values.rounds) };
  } catch (error) {
    return wrongUsage(error.message);
  }
}

function wrongUsage(message) {
  console.error(`bench: ${message}\n\n${help}`);
  process.exit(2);
}

/** A guard must not fail because the machine was busy: what a quick run misses is measured twice more. */
async function measured(one) {
  for (let attempts = isQuick ? 3 : 1; ; attempts--) {
    const results = await measure(one, {
      place,
      scratch,
      rounds,
      timeoutMs: 15_000,
      isIncluded: (name) => hasPeers || /^(raw|lathe)/.test(name),
    });
    const verdicts = judge(one, results, { isQuick });
    if (attempts === 1 || verdicts.every(({ isMet }) => isMet)) return { results, verdicts };
  }
}

/** What the benchmarks themselves need: a tokenizer. */
function installOwn() {
  if (existsSync(join(import.meta.dirname, 'node_modules'))) return;
  const args = ['install', '--no-save', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  spawnSync('npm', args, { cwd: import.meta.dirname, stdio: 'inherit' });
}

async function allCases() {
  const folder = join(import.meta.dirname, 'cases');
  const lists = await Promise.all(
    readdirSync(folder)
      .filter((name) => name.endsWith('.mjs'))
      .map(async (name) => {
        const path = join(folder, name);
        const loaded = await import(path);
        return loaded.cases.map((one) => ({ ...one, file: path }));
      }),
  );
  return lists.flat();
}

function isChosen({ group, name, isQuick: forQuick, isOnlyQuick }) {
  if (isQuick ? !forQuick : isOnlyQuick) return false;
  return only.test(`${group}: ${name}`);
}

function saved() {
  if (!existsSync(file)) return { about: {}, cases: {} };
  return JSON.parse(readFileSync(file, 'utf8'));
}

/** RESULTS.md and its chart from all that was kept, in the order of the cases. */
function writePages() {
  const { about, cases: kept } = saved();
  const shown = cases.flatMap(({ group, name, note, isRefusal }) => {
    const key = `${group}: ${name}`;
    return kept[key] ? [[key, { ...kept[key], note, isRefusal }]] : [];
  });
  const all = { about, cases: Object.fromEntries(shown) };
  writeReport(join(import.meta.dirname, 'RESULTS.md'), all);
  writeChart(join(import.meta.dirname, 'results.svg'), all);
  writeGrowthChart(join(import.meta.dirname, 'growth.svg'), all);
}

function keep(one, results, verdicts) {
  const all = saved();
  const named = Object.keys(peers).filter((peer) => !peer.startsWith('node'));
  const versions = named.map((name) => [name, installedVersion(place.peers, name)]);
  const { group, name, note, growth, unit } = one;
  all.about = {
    date: new Date().toISOString().slice(0, 10),
    node: process.version,
    cores: cpus().length,
    machine: `${cpus().length} cores, ${cpus()[0]?.model ?? 'unknown'}, ${process.platform}`,
    versions: Object.fromEntries(versions.filter(([, version]) => version)),
  };
  all.cases[`${group}: ${name}`] = { group, name, note, growth, unit, results, verdicts, load: loadavg()[0] };
  writeFileSync(file, JSON.stringify(all, null, 1));
}
