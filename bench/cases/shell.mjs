import { childEnvironment, unattendedVariables } from '../../packages/core/dist/index.js';
import { drained, group, toolCase } from '../case.mjs';

const env = childEnvironment(process.env, { set: unattendedVariables });
const bash = (command) => drained('/bin/bash', ['-c', command], { env });
const root = ({ scratch }) => scratch;
const raw = (limit, guard) => ({ metric: 'time', than: 'raw', limit, guard });

/** A command, also in our sandbox. */
function shellCase({ command: line, ...rest }) {
  const inSandbox = async (place) => {
    const { open } = await import('../tools/lathe.mjs');
    const tools = await open({ ...place, root: root(place) }, { sandbox: 'required' });
    return { run: () => tools.shell(line) };
  };
  return toolCase({
    root,
    raw: () => bash(line),
    call: (tools) => tools.shell(line),
    contestants: { 'lathe, sandboxed': inSandbox },
    ...rest,
  });
}

export const cases = group('shell', [
  shellCase({
    name: 'run echo hi',
    command: 'echo hi',
    verify: (output) => output.includes('hi'),
    goals: [raw(1.3, 6), { metric: 'time', who: 'lathe, sandboxed', than: 'raw', limit: 3 }],
    rounds: 40,
    isQuick: true,
  }),
  shellCase({
    name: 'run yes | head -c 50M',
    command: 'yes | head -c 50M',
    verify: (output) => output.length < 200_000,
    goals: [raw(2, 6), { metric: 'memory', limit: 32, guard: 64 }, { metric: 'stall', limit: 50 }],
    rounds: 5,
    isQuick: true,
  }),
  shellCase({
    name: 'run seq 1 1000000',
    command: 'seq 1 1000000',
    verify: (output) => output.includes('1000000') && output.length < 200_000,
    goals: [raw(2, 6), { metric: 'memory', limit: 32, guard: 64 }],
    isQuick: true,
  }),
]);
