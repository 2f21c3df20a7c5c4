import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { matchCommandRule } from '../../packages/core/dist/entry-host.js';
import {
  analyzeCommand,
  CommandRunner,
  childEnvironment,
  LatheHome,
  unattendedVariables,
} from '../../packages/core/dist/entry-tools.js';
import { drained, group, toolCase } from '../case.mjs';

const env = childEnvironment(process.env, { set: unattendedVariables });
const bash = (command) => drained('/bin/bash', ['-c', command], { env });
const root = ({ scratch }) => scratch;
/** In our sandbox, against the smallest sandbox that bubblewrap makes. */
const inOurs = (limit) => ({ metric: 'time', who: 'lathe, sandboxed', than: 'raw, in bubblewrap', limit });
const raw = (limit, guard) => ({ metric: 'time', than: 'raw', limit, guard });

/** The least that bubblewrap can be asked for: namespaces, a read-only system, a writable directory, its own /dev, /proc and /tmp. */
const inBubblewrap = (line) => async (place) => {
  const namespaces = ['--unshare-user', '--unshare-pid', '--unshare-ipc', '--unshare-net', '--die-with-parent'];
  const mounts = ['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--tmpfs', '/tmp'];
  const writable = ['--bind', root(place), root(place)];
  const args = [...namespaces, ...mounts, ...writable, '--', '/bin/bash', '-c', line];
  return { run: () => drained('bwrap', args, { env }) };
};

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
    contestants: { 'raw, in bubblewrap': inBubblewrap(line), 'lathe, sandboxed': inSandbox },
    ...rest,
  });
}

/** Fills 10,000 characters with pieces. */
const filled = (piece, { head = '', between = '; ', tail = '' } = {}) => {
  const pieces = [piece(0)];
  let length = head.length + pieces[0].length + tail.length;
  for (let next = piece(1); length + between.length + next.length <= 10_000; next = piece(pieces.length)) {
    pieces.push(next);
    length += between.length + next.length;
  }
  return head + pieces.join(between) + tail;
};

/** Commands that are expensive to parse, each in its own way. */
const shapes = {
  'here-documents': filled((i) => `cat <<E${i}\nline $HOME $(ls)\nE${i}`, { between: '\n' }),
  wrappers: filled(() => 'env A=1 nice -n 5 timeout 5', { between: ' ', tail: ' ls' }),
  'flags of sudo': filled(() => '-u root -E', { head: 'sudo ', between: ' ', tail: ' ls' }),
  'a pipeline': filled((i) => `grep -n x${i} file${i}.txt`, { between: ' | ' }),
  substitutions: filled(() => '`ls a` $(ls b)', { head: 'echo ', between: ' ' }),
  'nested substitutions': filled(() => 'x', { head: 'echo $('.repeat(60), between: ' ', tail: ')'.repeat(60) }),
  assignments: filled((i) => `A${i}="$A${i}x$B"`),
  'one word': filled(() => `a"b"'c'$d`, { head: 'echo ', between: '' }),
  'one path': filled(() => 'x/..', { head: 'cat ', between: '/' }),
  redirections: filled((i) => `>f${i}`, { head: 'ls ', between: ' ' }),
  'many programs': filled((i) => `prog${i} a`),
  functions: filled((i) => `f${i}() { ls; }; f${i}`),
  // These are just short enough to be read to their end.
  'long names': filled((i) => `some/file-${i}`, { head: 'ls ', between: ' ' }),
  'long patterns': filled((i) => `grep -n ${'x'.repeat(70)}${i} file${i}.txt`, { between: ' | ' }),
  'long arguments': filled((i) => `program-${i} ${'a'.repeat(60)}`),
};

/** In a process of its own each time: nobody sends the same long command twice. */
const analysisCase = ([shape, command]) => ({
  name: `understand 10,000 characters, ${shape}`,
  contestants: {
    lathe: async ({ scratch }) => {
      const options = { cwd: scratch, workspaceRoots: [scratch], home: env.HOME ?? '/', path: env.PATH };
      const task = [join(import.meta.dirname, '../understand.mjs'), JSON.stringify({ command, options })];
      return { run: async () => JSON.parse((await promisify(execFile)(process.execPath, task)).stdout) };
    },
  },
  goals: [{ metric: 'time', limit: 20, guard: 200 }],
  rounds: 9,
  isQuick: true,
});

/** Ours alone, against a limit in milliseconds. */
const ownCase = (name, limit, open) => ({
  name,
  contestants: { lathe: open },
  goals: [{ metric: 'time', limit, guard: limit * 5 }],
  rounds: 9,
});

export const cases = group('shell', [
  ...Object.entries(shapes).map(analysisCase),
  ownCase('understand a search through 2,000 files', 12, async ({ scratch }) => {
    const cwd = join(scratch, 'files');
    mkdirSync(cwd);
    for (let i = 0; i < 2_000; i++) writeFileSync(join(cwd, `file-${i}.ts`), '');
    const options = { cwd, workspaceRoots: [cwd], home: env.HOME ?? '/', path: env.PATH };
    return { run: async () => void (await analyzeCommand('grep -r word .', options)) };
  }),
  ownCase('match 100 rules with the 50 parts of a command', 20, async () => {
    const rules = Array.from({ length: 100 }, (_, i) => `git sub${i} --flag*x "a b" *`);
    const parts = Array.from({ length: 50 }, (_, i) => ['git', 'log', `-${i}`, '--oneline']);
    return { run: async () => parts.forEach((words) => rules.forEach((rule) => matchCommandRule(rule, words))) };
  }),
  ownCase('end 100 programs', 600, async ({ scratch }) => {
    const runner = new CommandRunner(new LatheHome(join(scratch, 'home')));
    const start = () => runner.startProgram({ argv: ['sleep', '1000'], cwd: scratch, env });
    let programs = [];
    return {
      run: async () => void (await Promise.all(programs.map((program) => program.end()))),
      prepare: async () => {
        programs = await Promise.all(Array.from({ length: 100 }, start));
        // Programs that have just started are found faster than those of a long session.
        await new Promise((resolve) => setTimeout(resolve, 1_100));
      },
    };
  }),
  shellCase({
    name: 'run echo hi',
    command: 'echo hi',
    verify: (output) => output.includes('hi'),
    goals: [raw(1.3, 6), inOurs(2.2)],
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
