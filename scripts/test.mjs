// npm test: set up, then every check, in the order in which they fail fastest. Arguments go to vitest.
import { spawnSync } from 'node:child_process';
import { accessSync, constants, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { setup } from './setup.mjs';

const root = join(import.meta.dirname, '..');
setup();

/** @type {[title: string, program: string, args: string[]][]} */
const checks = [
  ['format', 'biome', ['ci', '--error-on-warnings', '.']],
  ['lint', 'oxlint', ['--deny-warnings']],
  ['types', 'tsc', ['-p', 'tsconfig.test.json']],
  ['tests', 'vitest', ['run', ...process.argv.slice(2)]],
  ['unused code', 'knip', []],
  ['package core', 'publint', ['packages/core']],
  ['package agent', 'publint', ['packages/agent']],
  ['package fleet', 'publint', ['packages/fleet']],
  ['package cli', 'publint', ['packages/cli']],
  ['types of core', 'attw', ['--pack', 'packages/core', '--profile', 'esm-only', '-q']],
  ['types of agent', 'attw', ['--pack', 'packages/agent', '--profile', 'esm-only', '-q']],
  ['types of fleet', 'attw', ['--pack', 'packages/fleet', '--profile', 'esm-only', '-q']],
];

const missing = JSON.parse(readFileSync(join(root, 'scripts', 'programs.json'), 'utf8')).filter(
  ({ program }) => !isInstalled(program),
);

for (const [title, program, args] of checks) {
  console.log(`\n── ${title}`);
  const { status } = spawnSync(process.execPath, [binOf(program), ...args], { cwd: root, stdio: 'inherit' });
  if (status !== 0) {
    console.error(`\n${title}: failed`);
    process.exit(1);
  }
}

for (const { program, package: name, for: purpose } of missing)
  console.log(`skipped: tests of ${purpose} need ${program} (Debian: apt-get install ${name})`);
console.log(`\n${checks.length} passed, 0 failed${missing.length > 0 ? `, ${missing.length} skipped` : ''}`);

/** The script behind a command of node_modules, started with this very Node. */
function binOf(program) {
  const packages = { biome: '@biomejs/biome', tsc: 'typescript', attw: '@arethetypeswrong/cli' };
  const directory = join(root, 'node_modules', packages[program] ?? program);
  const { bin } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
  return join(directory, typeof bin === 'string' ? bin : bin[program]);
}

function isInstalled(program) {
  return (process.env.PATH ?? '').split(delimiter).some((directory) => {
    try {
      accessSync(join(directory, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
