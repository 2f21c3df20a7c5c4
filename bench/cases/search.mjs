import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { rgPath } from '@vscode/ripgrep';
import { drained, group, toolCase } from '../case.mjs';
import { growthSizes } from '../corpora.mjs';

const rg = (args, path) => drained(rgPath, ['--no-config', '--smart-case', ...args, path]);
const files = (args, path) => drained(rgPath, ['--no-config', '--files', ...args], { cwd: path });
const at =
  (...parts) =>
  ({ corpora }) =>
    join(corpora, ...parts);
const linux = at('linux');
const flat = at('flat');
const big = at('big');

const grep = ({ pattern, glob, where, ...rest }) =>
  toolCase({
    root: where,
    raw: (place) => rg([...(glob ? ['-g', glob] : []), '-e', pattern], where(place)),
    call: (tools, place) => tools.grep(pattern, where(place), glob),
    ...rest,
  });
const glob = ({ pattern, where, ...rest }) =>
  toolCase({
    root: where,
    raw: (place) => files(['-g', pattern], where(place)),
    call: (tools, place) => tools.glob(pattern, where(place)),
    ...rest,
  });

const notBlocked = { metric: 'stall', limit: 50 };
const raw = (limit, guard) => ({ metric: 'time', than: 'raw', limit, guard });

export const cases = group('search', [
  grep({
    name: 'grep a rare literal in a kernel tree',
    corpora: ['linux'],
    pattern: 'zzqq_rare',
    where: linux,
    goals: [raw(1.08, 6), notBlocked],
    // So close a goal needs more rounds than usual.
    rounds: 12,
    isQuick: true,
  }),
  grep({
    name: 'grep a rare literal in a kernel tree for the first time',
    corpora: ['linux'],
    pattern: 'zzqq_rare',
    where: linux,
    call: (tools, place) => (tools.grepFirst ?? tools.grep)('zzqq_rare', linux(place)),
    goals: [raw(1.1), notBlocked],
    rounds: 12,
  }),
  grep({
    name: 'grep 20,000 hits, first 100, in a kernel tree',
    note: 'raw ripgrep reads everything',
    corpora: ['linux'],
    pattern: 'kmalloc|kzalloc',
    where: linux,
    goals: [raw(0.06), notBlocked],
  }),
  grep({
    name: 'grep in *.c of a kernel tree',
    corpora: ['linux'],
    pattern: 'zzqq_rare',
    glob: '*.c',
    where: linux,
    goals: [raw(1.12), notBlocked],
  }),
  grep({
    name: 'grep in *.c of a kernel tree for the first time',
    corpora: ['linux'],
    pattern: 'zzqq_rare',
    glob: '*.c',
    where: linux,
    call: (tools, place) => (tools.grepFirst ?? tools.grep)('zzqq_rare', linux(place), '*.c'),
    goals: [raw(1.12), notBlocked],
  }),
  grep({
    name: 'grep a literal in a TypeScript tree',
    corpora: ['ts'],
    pattern: 'rareNeedle',
    where: at('ts'),
    verify: (output) => output.includes('rareNeedle'),
    goals: [raw(1.5, 6)],
    isQuick: true,
  }),
  grep({
    name: 'grep a literal in 100,000 files of one folder',
    corpora: ['flat'],
    pattern: 'zzqq_rare',
    where: flat,
    goals: [raw(1.2, 6), notBlocked],
    isQuick: true,
  }),
  toolCase({
    name: 'grep a hit in a line of 200 MB',
    corpora: ['big'],
    root: big,
    raw: (place) => rg(['-e', '"k1000":'], join(big(place), 'oneline-200m.txt')),
    call: (tools, place) => tools.grep('"k1000":', big(place), 'oneline-200m.txt'),
    verify: (output) => output.includes('k1000') && output.length < 100_000,
    goals: [raw(3, 12), { metric: 'memory', limit: 64, guard: 96 }, notBlocked],
    isQuick: true,
  }),
  glob({
    name: 'glob **/* of a kernel tree, newest first',
    note: 'pi does not sort',
    corpora: ['linux'],
    pattern: '**/*',
    where: linux,
    goals: [raw(1.8, 8), { metric: 'memory', limit: 80, guard: 120 }, notBlocked],
    isQuick: true,
  }),
  glob({
    name: 'glob **/*.c of a kernel tree, newest first',
    note: 'pi does not sort',
    corpora: ['linux'],
    pattern: '**/*.c',
    where: linux,
    verify: (output) => output.includes('.c'),
    goals: [raw(1.8), notBlocked],
  }),
  glob({
    name: 'glob *.txt of 100,000 files in one folder',
    note: 'pi does not sort',
    corpora: ['flat'],
    pattern: '*.txt',
    where: flat,
    verify: (output) => output.includes('.txt'),
    goals: [raw(4.5, 16), notBlocked],
    isQuick: true,
  }),
  toolCase({
    name: 'list a folder of 100,000 files',
    corpora: ['flat'],
    root: flat,
    raw: async (place) => void readdirSync(flat(place)),
    call: (tools, place) => tools.ls(flat(place)),
    verify: (output) => output.includes('file-000'),
    goals: [raw(3, 15), notBlocked],
    isQuick: true,
  }),
  ...[true, false].flatMap((isQuick) =>
    growthSizes(isQuick).files.flatMap((size) => [
      grep({
        name: `grep a literal in ${size.toLocaleString('en')} source files`,
        corpora: ['growth'],
        pattern: 'rareNeedle',
        where: at('growth', `files-${size}`),
        goals: [],
        growth: { of: 'grep, by files', size },
        isOnlyQuick: isQuick,
        isQuick,
      }),
      glob({
        name: `glob **/*.ts of ${size.toLocaleString('en')} source files`,
        corpora: ['growth'],
        pattern: '**/*.ts',
        where: at('growth', `files-${size}`),
        goals: [],
        growth: { of: 'glob, by files', size },
        isOnlyQuick: isQuick,
        isQuick,
      }),
    ]),
  ),
]);
