import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { group } from '../case.mjs';
import { clis } from '../clis.mjs';

const program = join(import.meta.dirname, '..', '..', 'packages', 'cli', 'dist', 'main.js');

/** A program from its start to its end. */
function started(command, args, env = process.env) {
  return {
    run: async () => {
      const { status } = spawnSync(command, args, { stdio: 'ignore', env });
      if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}`);
      return { memory: 0, stall: 0 };
    },
  };
}

const node = async () => started(process.execPath, ['-e', '0']);
const lathe =
  (...args) =>
  async ({ scratch }) =>
    started(process.execPath, [program, ...args], { ...process.env, HOME: scratch });

/** The other programs, asked for their version. */
const versions = Object.fromEntries(
  Object.entries(clis).map(([name, cli]) => [
    name,
    async (place) => {
      const { command, args, env } = cli.open(place, 'http://127.0.0.1:9');
      return started(command, [...args, '--version'], env);
    },
  ]),
);

export const cases = group('startup', [
  {
    name: 'print the version',
    note: 'raw is node -e 0',
    contestants: { raw: node, lathe: lathe('--version'), ...versions },
    goals: [{ metric: 'time', than: 'raw', limit: 1.6, guard: 6 }],
    rounds: 15,
    isQuick: true,
  },
  {
    name: 'list the tools',
    note: 'raw is node -e 0',
    contestants: { raw: node, lathe: lathe('tools') },
    goals: [{ metric: 'time', than: 'raw', limit: 3, guard: 10 }],
    rounds: 15,
    isQuick: true,
  },
]);
