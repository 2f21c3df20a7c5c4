import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { installPacked } from '../../scripts/consumer.mjs';
import { group } from '../case.mjs';
import { clis } from '../clis.mjs';

const program = join(import.meta.dirname, '..', '..', 'packages', 'cli', 'dist', 'main.cjs');

/** A program from its start to its end. */
function started(command, args, options = {}) {
  return {
    run: async () => {
      const { status } = spawnSync(command, args, { stdio: 'ignore', ...options });
      if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}`);
      return { memory: 0, stall: 0 };
    },
  };
}

const node = async () => started(process.execPath, ['-e', '0']);
const lathe =
  (...args) =>
  async ({ scratch }) =>
    started(process.execPath, [program, ...args], { env: { ...process.env, HOME: scratch } });

/** A script in a project that installed the packed library. */
const library =
  (script) =>
  async ({ scratch }) => {
    writeFileSync(join(scratch, 'package.json'), '{ "private": true }\n');
    installPacked(scratch, ['core']);
    const env = { ...process.env, HOME: scratch };
    return started(process.execPath, ['--input-type=module', '-e', script], { cwd: scratch, env });
  };

const firstResult = `
import { createLathe } from '@lathe/core';
const lathe = await createLathe({ cwd: process.cwd(), env: process.env });
const [{ status }] = await lathe.run([{ name: 'list_directory', args: { path: process.cwd() } }], AbortSignal.timeout(10_000));
await lathe.close();
process.exitCode = status === 'success' ? 0 : 1;`;

/** The other programs, asked for their version. */
const versions = Object.fromEntries(
  Object.entries(clis).map(([name, cli]) => [
    name,
    async (place) => {
      const { command, args, env } = cli.open(place, 'http://127.0.0.1:9');
      return started(command, [...args, '--version'], { env });
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
  {
    name: 'import defineTool',
    note: 'from the packed library; raw is node -e 0',
    contestants: { raw: node, lathe: library("import { defineTool } from '@lathe/core'; defineTool") },
    goals: [{ metric: 'time', than: 'raw', limit: 1.7, guard: 4 }],
    rounds: 15,
    isQuick: true,
  },
  {
    name: 'createLathe to the first list_directory result',
    note: 'from the packed library; raw is node -e 0',
    contestants: { raw: node, lathe: library(firstResult) },
    goals: [{ metric: 'time', than: 'raw', limit: 4, guard: 10 }],
    rounds: 15,
    isQuick: true,
  },
]);
