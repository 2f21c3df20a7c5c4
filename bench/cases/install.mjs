import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { group, NotThere, peerPackage } from '../case.mjs';
import { bundled, peers } from '../peers.mjs';

const cli = join(import.meta.dirname, '..', '..', 'packages', 'cli');
const others = Object.entries(peers).filter(([name]) => !name.startsWith('node') && !bundled.includes(name));

/** What stands on the disk after `npm install` of each, counted by `count(folder)`. */
const installed = (count) => ({
  lathe: async ({ scratch }) => {
    const npm = (...args) => execFileSync('npm', [...args, '--loglevel=error'], { cwd: scratch, stdio: 'ignore' });
    npm('pack', cli, '--ignore-scripts');
    const [packed] = readdirSync(scratch).filter((name) => name.endsWith('.tgz'));
    writeFileSync(join(scratch, 'package.json'), '{ "private": true }\n');
    npm('install', '--no-audit', '--no-fund', join(scratch, packed));
    return { run: async () => ({ count: count(scratch) }) };
  },
  ...Object.fromEntries(
    others.map(([name, [pack]]) => [
      name,
      async (place) => {
        peerPackage(place, name, pack);
        return { run: async () => ({ count: count(join(place.peers, name)) }) };
      },
    ]),
  ),
});

export const cases = group('install', [
  {
    name: 'size on disk',
    unit: 'MB',
    contestants: installed((folder) => megabytes(join(folder, 'node_modules'))),
    goals: [{ metric: 'count', limit: 40 }],
    rounds: 1,
  },
  {
    name: 'packages',
    unit: 'packages',
    contestants: installed(packages),
    goals: [{ metric: 'count', limit: 60 }],
    rounds: 1,
  },
]);

function megabytes(folder) {
  const bytes = readdirSync(folder, { recursive: true }).reduce(
    (sum, name) => sum + (lstatSync(join(folder, name)).isFile() ? lstatSync(join(folder, name)).size : 0),
    0,
  );
  return bytes / 2 ** 20;
}

/** Those of the lock file that are there: builds for other platforms are not. */
function packages(folder) {
  const lock = join(folder, 'package-lock.json');
  if (!existsSync(lock)) throw new NotThere('no lock file');
  const paths = Object.keys(JSON.parse(readFileSync(lock, 'utf8')).packages);
  return paths.filter((path) => path !== '' && existsSync(join(folder, path))).length;
}
