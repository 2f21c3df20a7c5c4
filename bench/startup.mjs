// How long `lathe` takes to start, as a ratio to `node -e 0` measured side by side. Run: npm run bench
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const program = join(import.meta.dirname, '..', 'packages', 'cli', 'dist', 'main.js');
const cases = [
  { name: 'node -e 0', args: ['-e', '0'] },
  { name: 'lathe --version', args: [program, '--version'], limit: 1.6 },
  { name: 'lathe tools', args: [program, 'tools'], limit: 3 },
];

/** Interleaved rounds, so that a busy moment of the machine hits every case alike. */
export function startup(rounds = 20) {
  const times = cases.map(() => []);
  for (let round = 0; round < rounds; round++)
    cases.forEach(({ args }, index) => {
      const begin = performance.now();
      const { status } = spawnSync(process.execPath, args, { stdio: 'ignore' });
      if (status !== 0) throw new Error(`${args.join(' ')} failed`);
      times[index].push(performance.now() - begin);
    });
  const [raw, ...ours] = times.map(median);
  return ours.map((time, index) => {
    const { name, limit } = cases[index + 1];
    return { name, ms: time, ratio: time / raw, limit };
  });
}

const median = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];
