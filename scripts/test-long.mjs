// npm run test:long: the full suites of which npm test runs a sample. Says how to use it with --help.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { writeBuildsPage } from './builds-page.mjs';
import { setup } from './setup.mjs';

const root = join(import.meta.dirname, '..');
const recordFile = join(root, 'docs', 'long-run.json');

/** What runs together, and the minutes it may take. Files are below packages/. */
const suites = {
  'kill-points': { files: ['core/src/tools/edit.fault.test.ts', 'agent/src/session/transcript.test.ts'], minutes: 90 },
  'power-loss': { files: ['core/src/files/write/power-loss.test.ts'], minutes: 40 },
  races: { files: ['core/src/files/open-file.test.ts', 'core/src/files/write/file-lock.test.ts'], minutes: 15 },
  bytes: { files: ['core/src/files/edit/splice.test.ts', 'core/src/files/read/read-text.test.ts'], minutes: 20 },
  fuzz: {
    files: [
      'core/src/text/schema/repair-params.test.ts',
      'core/src/text/schema/safe-pattern.test.ts',
      'core/src/settings/edit-jsonc.test.ts',
      'agent/src/loop/conversation.test.ts',
      'agent/src/loop/compaction.test.ts',
      'core/src/web/page/html-to-markdown.test.ts',
      'cli/src/tui/display-fuzz.test.ts',
      'cli/src/screen/screen.test.ts',
    ],
    minutes: 20,
  },
  streams: {
    files: [
      'agent/src/models/http/mutated-streams.test.ts',
      'agent/src/models/http/remote-model.test.ts',
      'cli/src/headless/headless.test.ts',
    ],
    minutes: 30,
  },
  commands: {
    files: ['core/src/process/shell/differential.test.ts', 'core/src/lathe/questions-page.test.ts'],
    minutes: 180,
  },
  aborts: {
    files: ['core/src/process/run/process-tree.test.ts', 'core/src/process/run/run-command.test.ts'],
    minutes: 30,
  },
  trees: {
    files: [
      'core/src/files/search/search.differential.test.ts',
      'core/src/files/ignore/ignore-rules.test.ts',
      'core/src/files/search/file-glob.test.ts',
      'core/src/tools/grep.test.ts',
      'core/src/tools/ls.test.ts',
      'core/src/tools/read-many-files.test.ts',
    ],
    minutes: 30,
  },
  rewind: {
    files: ['agent/src/rewind.test.ts', 'core/src/rewind/rewind.test.ts', 'core/src/process/shell/git-index.test.ts'],
    minutes: 30,
  },
  languages: {
    files: [
      'core/src/languages/random-edits.test.ts',
      'core/src/languages/real-servers.test.ts',
      'core/src/lathe/hostile-language-servers.test.ts',
    ],
    minutes: 90,
  },
  worktrees: {
    files: [
      'agent/src/worktrees/worktrees.test.ts',
      'agent/src/subagents/isolated-subagent.test.ts',
      'agent/src/tasks/run-batch.test.ts',
      'cli/src/commands/batch.test.ts',
    ],
    minutes: 40,
  },
  rebinding: { files: ['core/src/web/http/rebinding.test.ts'], minutes: 10 },
  chaos: {
    files: [
      'cli/src/damaged-files.test.ts',
      'core/src/mcp/client/bad-servers.test.ts',
      'agent/src/subagents/subagents.test.ts',
      'core/src/lathe/protected-files.test.ts',
      'agent/src/injection.test.ts',
      'core/src/scheduler/scheduler.property.test.ts',
      'agent/src/loop/long-session.test.ts',
    ],
    minutes: 20,
  },
  server: { files: ['cli/src/server/server-attacks.test.ts'], minutes: 10 },
  fleet: {
    files: ['fleet/src/chaos.test.ts', 'fleet/src/load.test.ts', 'fleet/src/takeover.test.ts'],
    minutes: 120,
  },
  'many-calls': { files: ['agent/src/many-calls.test.ts'], minutes: 40 },
  builds: { files: ['core/src/process/sandbox/builds.test.ts'], minutes: 30 },
  sandbox: {
    files: ['core/src/process/sandbox/attacks.test.ts', 'core/src/process/sandbox/sandbox-sockets.test.ts'],
    minutes: 60,
  },
  'sandbox-hour': { files: ['core/src/process/sandbox/shared-tree.test.ts'], minutes: 20 + sandboxMinutes() },
  soak: { files: ['agent/src/soak.test.ts'], minutes: 20 + soakMinutes() },
};

const help = `npm run test:long -- [options]

  --only NAME[,NAME]   some of: ${Object.keys(suites).join(', ')}
  --list               the suites, their files and the minutes each may take
  --record             keep the counts in docs/long-run.json, and make docs/safety.md anew

LATHE_SEED repeats a run, LATHE_SOAK_MINUTES (60) and LATHE_SANDBOX_MINUTES (60) set the length of soak and sandbox-hour.`;

const options = readOptions();
if (options.help) {
  console.log(help);
  process.exit();
}
const names = options.only.split(',');
if (options.list) {
  for (const name of names) console.log(`${name} (${suites[name].minutes} min)\n  ${suites[name].files.join('\n  ')}`);
  process.exit();
}

setup();
const seed = process.env.LATHE_SEED ?? String(Date.now() % 1_000_000_000);
const scratch = mkdtempSync(join(tmpdir(), 'lathe-long-'));
/** What became of each build, one line each. */
const outcomeFile = join(scratch, 'outcomes.jsonl');
const results = [];
for (const name of names) {
  console.log(`\n── ${name} (LATHE_SEED=${seed}, at most ${suites[name].minutes} min)`);
  const summary = join(scratch, `${name}.jsonl`);
  const begin = performance.now();
  const status = await run(name, summary);
  const counts = countsIn(summary);
  results.push({ name, status, minutes: (performance.now() - begin) / 60_000, counts });
}

console.log('\n── summary');
for (const { name, status, minutes, counts } of results) {
  console.log(`${status.padEnd(9)} ${name.padEnd(12)} ${minutes.toFixed(1)} min`);
  for (const { suite, count, ...facts } of counts)
    console.log(`          ${count.toLocaleString('en')} ${suite}${describe(facts)}`);
}
if (options.record) record();
rmSync(scratch, { recursive: true, force: true });
process.exitCode = results.every(({ status }) => status === 'passed') ? 0 : 1;

function readOptions() {
  try {
    const { values } = parseArgs({
      options: {
        only: { type: 'string', default: Object.keys(suites).join(',') },
        list: { type: 'boolean', default: false },
        record: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
    const unknown = values.only.split(',').find((name) => !Object.hasOwn(suites, name));
    if (unknown !== undefined) throw new Error(`there is no suite ${unknown}`);
    for (const name of ['LATHE_SEED', 'LATHE_SOAK_MINUTES', 'LATHE_SANDBOX_MINUTES'])
      if (!Number.isFinite(Number(process.env[name] ?? 0)))
        throw new Error(`${name} is not a number: ${process.env[name]}`);
    return values;
  } catch (error) {
    console.error(`${error.message}\n\n${help}`);
    process.exit(2);
  }
}

function run(name, summary) {
  const { files, minutes } = suites[name];
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const paths = files.map((file) => join('packages', file));
  // Removing a hundred thousand files after a test takes its time too.
  const limits = ['--testTimeout', '--hookTimeout'].map((limit) => `${limit}=${minutes * 60_000}`);
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [vitest, 'run', ...limits, ...paths], {
      cwd: root,
      stdio: 'inherit',
      env: {
        ...process.env,
        LATHE_LONG: '1',
        LATHE_SEED: seed,
        LATHE_LONG_SUMMARY: summary,
        LATHE_OUTCOMES: outcomeFile,
      },
      // A group of its own, which ends as a whole.
      detached: true,
    });
    let status;
    const timer = setTimeout(() => {
      status = 'timed out';
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    }, minutes * 60_000);
    // A signal that ends this run ends the suite too.
    const end = () => {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      process.exit(130);
    };
    process.once('SIGINT', end).once('SIGTERM', end);
    child.on('exit', (code) => {
      clearTimeout(timer);
      process.off('SIGINT', end).off('SIGTERM', end);
      resolve(status ?? (code === 0 ? 'passed' : 'failed'));
    });
  });
}

/** Keeps what other suites counted in earlier runs. */
function record() {
  const kept = existsSync(recordFile) ? JSON.parse(readFileSync(recordFile, 'utf8')) : {};
  const date = new Date().toISOString().slice(0, 10);
  for (const { status, counts } of results)
    if (status === 'passed')
      for (const { suite, ...rest } of counts) kept[suite] = { ...rest, seed: Number(seed), date };
  const sorted = Object.fromEntries(Object.entries(kept).sort(([a], [b]) => (a < b ? -1 : 1)));
  writeFileSync(recordFile, `${JSON.stringify(sorted, null, 2)}\n`);
  spawnSync(process.execPath, [join(root, 'scripts', 'safety-table.mjs')], { stdio: 'inherit' });
  if (existsSync(outcomeFile)) writeBuildsPage(linesIn(outcomeFile));
}

/** What the tests reported, one entry for each thing counted. */
function countsIn(file) {
  if (!existsSync(file)) return [];
  const sums = new Map();
  for (const one of linesIn(file)) {
    sums.set(one.suite, { ...one, count: one.count + (sums.get(one.suite)?.count ?? 0) });
  }
  return [...sums.values()];
}

/** A suite that was ended may have left half a line. */
function linesIn(file) {
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line));
}

function describe(facts) {
  const entries = Object.entries(facts).map(([key, value]) => `${key} ${value}`);
  return entries.length > 0 ? ` (${entries.join(', ')})` : '';
}

function soakMinutes() {
  return Number(process.env.LATHE_SOAK_MINUTES ?? 60);
}

function sandboxMinutes() {
  return Number(process.env.LATHE_SANDBOX_MINUTES ?? 60);
}
