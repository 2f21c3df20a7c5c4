// Makes the project of testing/consumer in a directory, as somebody who installed the packages would: packs them, installs
// the tarballs, compiles. `node dist/main.js` there runs it.
//   node scripts/consumer.mjs <directory>
import { spawnSync } from 'node:child_process';
import { cpSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const root = join(import.meta.dirname, '..');

/** Expects that the packages are built. */
export function makeConsumer(directory) {
  cpSync(join(root, 'testing/consumer'), directory, { recursive: true });
  installPacked(directory, ['core', 'agent']);
  run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', '.'], directory);
}

/** Installs tarballs of our own packages, and what the project in the directory depends on. */
export function installPacked(directory, names) {
  const packages = names.map((name) => join(root, 'packages', name));
  run('npm', ['pack', '--ignore-scripts', '--loglevel=error', ...packages], directory);
  const tarballs = readdirSync(directory).filter((name) => name.endsWith('.tgz'));
  const flags = ['--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  run('npm', ['install', ...flags, ...tarballs.map((name) => `./${name}`)], directory);
}

function run(command, args, cwd) {
  // npm is a script on Windows, which only a shell can start; the arguments are our own constants.
  const shell = process.platform === 'win32' && command === 'npm';
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8', shell });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed:\n${stdout}${stderr}`);
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [directory] = process.argv.slice(2);
  if (directory === undefined) throw new Error('usage: node scripts/consumer.mjs <directory>');
  makeConsumer(resolve(directory));
}
