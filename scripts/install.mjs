// npm run install-lathe: builds, packs the command line and installs it as `lathe` for all your projects.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setup } from './setup.mjs';

const root = join(import.meta.dirname, '..');
setup();

const directory = mkdtempSync(join(tmpdir(), 'lathe-install-'));
process.on('exit', () => rmSync(directory, { recursive: true, force: true }));
const [packed] = JSON.parse(npm('pack', './packages/cli', '--pack-destination', directory, '--json'));
npm('install', '--global', join(directory, packed.filename), '--ignore-scripts', '--no-audit', '--no-fund');

const prefix = npm('prefix', '--global').trim();
const programs = process.platform === 'win32' ? prefix : join(prefix, 'bin');
console.log(`Installed ${join(programs, 'lathe')}. Remove it with: npm uninstall --global @lathe/cli`);
if (!(process.env.PATH ?? '').split(delimiter).includes(programs))
  console.log(
    `${programs} is not on your PATH. To use lathe in any directory, add it: export PATH="${programs}${delimiter}$PATH"`,
  );

function npm(...args) {
  const { status, stdout } = spawnSync('npm', [...args, '--loglevel=error'], {
    cwd: root,
    encoding: 'utf8',
    shell: process.platform === 'win32',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (status === 0) return stdout;
  console.error(`lathe was not installed, because npm ${args[0]} failed.`);
  if (args[0] === 'install')
    console.error(
      'If npm cannot write to its global folder, choose a folder of your own: npm config set prefix ~/.local',
    );
  process.exit(1);
}
