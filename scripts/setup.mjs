// Brings a checkout into a runnable state: dependencies, then the build. Does only what is missing or out of date.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const root = join(import.meta.dirname, '..');
const stampFile = join(root, 'node_modules', '.lathe-setup.json');

/**
 * Installs and builds what is out of date. Output of the steps goes to stderr so that stdout stays the program's. Inside a
 * test run nothing is installed: `npm ci` removes the files that the other tests are running from.
 */
export function setup() {
  checkNode();
  const stamp = readJson(stampFile);
  const lockFile = readFileSync(join(root, 'package-lock.json'), 'utf8');
  const lock = process.env.VITEST === undefined ? hash(lockFile) : stamp.lock;
  if (stamp.lock !== lock && !isInstalled(lockFile)) {
    say('installing dependencies');
    run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']);
    writeStamp({ lock });
  }
  const sources = fingerprint();
  if (stamp.lock !== lock || stamp.sources !== sources || !existsSync(join(root, 'packages/cli/dist/main.cjs'))) {
    say('building');
    run(process.execPath, [join(root, 'scripts', 'build.mjs')]);
    writeStamp({ lock, sources });
  }
}

/** Whether npm has put into node_modules what the lock file names, as `npm ci` does. */
function isInstalled(lockFile) {
  const present = readJson(join(root, 'node_modules', '.package-lock.json')).packages;
  if (present === undefined) return false;
  return Object.entries(JSON.parse(lockFile).packages).every(
    ([path, { version, optional }]) => path === '' || optional || present[path]?.version === version,
  );
}

function checkNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return;
  console.error(`lathe needs Node 20.19 or newer; this is ${process.versions.node}`);
  process.exit(1);
}

/** Names, sizes and times of everything the build reads: cheap, and changes whenever a source does. */
function fingerprint() {
  const entries = [];
  for (const pack of readdirSync(join(root, 'packages'))) {
    const directory = join(root, 'packages', pack);
    for (const name of readdirSync(join(directory, 'src'), { recursive: true }))
      if (!/\.test\.tsx?$/.test(name)) entries.push(join(directory, 'src', name));
    entries.push(join(directory, 'package.json'), join(directory, 'tsconfig.json'));
  }
  entries.push(
    join(root, 'scripts', 'build.mjs'),
    join(root, 'scripts', 'direct-imports.mjs'),
    join(root, 'tsconfig.base.json'),
  );
  const lines = entries
    .sort((a, b) => a.localeCompare(b, 'en'))
    .map((path) => {
      const { mtimeMs, size } = statSync(path);
      return `${path} ${mtimeMs} ${size}`;
    });
  return hash(lines.join('\n'));
}

function readJson(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return {};
  }
}

function writeStamp(stamp) {
  mkdirSync(join(root, 'node_modules'), { recursive: true });
  writeFileSync(stampFile, JSON.stringify(stamp));
}

function run(command, args) {
  // npm is a script on Windows, which only a shell can start; the arguments are our own constants.
  const shell = process.platform === 'win32' && command === 'npm';
  const { status } = spawnSync(command, args, { cwd: root, stdio: ['ignore', 2, 2], shell });
  if (status === 0) return;
  say(`${command} ${args.join(' ')} failed`);
  process.exit(1);
}

const hash = (data) => createHash('sha256').update(data).digest('hex');
const say = (text) => console.error(`setup: ${text}`);

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) setup();
