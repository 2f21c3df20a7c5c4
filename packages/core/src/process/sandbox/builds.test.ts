import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Build, builds } from '../../../../../testing/builds.js';
import { isLong, report } from '../../../../../testing/long-run.js';
import { hasProgram } from '../../../../../testing/programs.js';
import { LatheHome } from '../../files/lathe-home.js';
import { childEnvironment, unattendedVariables } from '../run/environment.js';
import { CommandRunner } from '../run/run-command.js';
import { Sandbox } from './sandbox.js';

const rights = { workspace: true, network: false, home: false, files: false, secrets: false };

/** Kept between runs. Not below a `node_modules`, where test runners find no tests. */
const root = join(tmpdir(), 'lathe-builds');
const packages = [...new Set(builds.flatMap((build) => build.packages ?? []))];

/** What became of each build, for docs/builds.md. */
const outcomes: { name: string; command: string; needs: string; outcome: string }[] = [];

let state = '';
let missing: readonly string[] = [];

/** Outside the sandbox, from the registry. */
function install(): readonly string[] {
  mkdirSync(join(root, 'node_modules'), { recursive: true });
  const marker = join(root, 'installed');
  if (existsSync(marker)) return [];
  writeFileSync(join(root, 'package.json'), '{}');
  const args = ['install', '--no-save', '--no-audit', '--no-fund', ...packages];
  const { status } = spawnSync('npm', args, { cwd: root, stdio: 'ignore', timeout: 600_000 });
  if (status === 0) writeFileSync(marker, '');
  return status === 0 ? [] : packages;
}

/** Why a build cannot run here. */
function obstacle({ programs = [], packages: wanted = [], downloads = '' }: Build): string | undefined {
  const absent = programs.find((program) => !hasProgram(program));
  if (absent !== undefined) return `${absent} is not installed`;
  if (!existsSync(join(homedir(), downloads))) return `~/${downloads} is missing`;
  return wanted.some((name) => missing.includes(name)) ? 'the registry did not answer' : undefined;
}

describe.skipIf(!isLong || !hasProgram('bwrap'))('builds and test runs in the sandbox, offline', () => {
  beforeAll(() => {
    missing = install();
    state = mkdtempSync(join(tmpdir(), 'lathe-test-'));
  }, 700_000);

  afterAll(() => {
    rmSync(state, { recursive: true, force: true });
    const passed = outcomes.filter(({ outcome }) => outcome === 'passes').length;
    const skipped = outcomes.filter(({ outcome }) => outcome.startsWith('skipped')).map(({ name }) => name);
    report('builds and test runs inside the sandbox', passed, { skipped: skipped.join(', ') || 'none' });
    const file = process.env['LATHE_OUTCOMES'];
    if (file) writeFileSync(file, outcomes.map((one) => `${JSON.stringify(one)}\n`).join(''));
  });

  test.each(builds.map((build) => [build.name, build] as const))('%s', async (name, build) => {
    const { command, needs = '–' } = build;
    const reason = obstacle(build);
    if (reason !== undefined) {
      outcomes.push({ name, command, needs, outcome: `skipped: ${reason}` });
      return;
    }
    const { text, ending } = await runBuild(build);
    const isPassed = ending.type === 'exit' && ending.code === 0 && text.includes(build.prints ?? '');
    outcomes.push({ name, command, needs, outcome: isPassed ? 'passes' : 'fails' });
    expect([text, ending]).toEqual([expect.stringContaining(build.prints ?? ''), { type: 'exit', code: 0 }]);
  });
});

async function runBuild({ name, command, files }: Build) {
  const cwd = join(root, name.replaceAll(/\W+/g, '-'));
  rmSync(cwd, { recursive: true, force: true });
  for (const [file, content] of Object.entries(files)) {
    mkdirSync(dirname(join(cwd, file)), { recursive: true });
    writeFileSync(join(cwd, file), content);
  }
  const latheHome = new LatheHome(state);
  const path = process.env['PATH'] ?? '';
  const sandbox = new Sandbox({
    mode: 'required',
    roots: [root],
    latheHome,
    userHome: homedir(),
    path,
    env: process.env,
  });
  const wrap = await sandbox.prepare(cwd, rights);
  const set = { ...unattendedVariables, PATH: `${root}/node_modules/.bin:${path}`, TMPDIR: '/tmp', NO_COLOR: '1' };
  const env = childEnvironment(process.env, { set });
  const runner = new CommandRunner(latheHome);
  const signal = new AbortController().signal;
  const result = await runner.run({ command, cwd, env, ...(wrap && { wrap }) }, { timeoutMs: 300_000, signal });
  await sandbox.close();
  return { text: result.output.text(), ending: result.ending };
}
