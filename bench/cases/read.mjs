import { closeSync, openSync, readSync, utimesSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { drained, group, toolCase } from '../case.mjs';
import { growthSizes } from '../corpora.mjs';

const big = ({ corpora }) => join(corpora, 'big');
const huge = (place) => join(big(place), '1g.txt');
const deep = ({ isQuick }) => (isQuick ? 500_000 : 10_000_000);
const raw = (limit, guard) => ({ metric: 'time', than: 'raw', limit, guard });
const little = { metric: 'memory', limit: 64, guard: 96 };
const notBlocked = { metric: 'stall', limit: 50 };

export const cases = group('read', [
  toolCase({
    name: 'read a small file',
    corpora: ['ts'],
    root: ({ corpora }) => join(corpora, 'ts'),
    raw: ({ corpora }) => readFile(join(corpora, 'ts', '.gitignore'), 'utf8'),
    call: (tools, { corpora }) => tools.read(join(corpora, 'ts', '.gitignore')),
    goals: [raw(1.8, 40)],
    rounds: 40,
    isQuick: true,
  }),
  toolCase({
    name: 'read 2,000 lines at the start of 1 GB',
    corpora: ['big'],
    root: big,
    raw: async (place) => readStart(huge(place), 170_000),
    contestants: ours((tools, place) => tools.read(huge(place))),
    call: (tools, place) => tools.read(huge(place), 0, 2000),
    verify: (output) => output.includes('000001900 ') || output.includes('000000900 '),
    goals: [raw(3, 15), little, notBlocked],
    rounds: 20,
    isQuick: true,
  }),
  toolCase({
    name: 'read at line 10,000,000 of 1 GB, for the first time',
    corpora: ['big'],
    root: big,
    // Another time stamp makes a kept index worthless.
    prepare: (place) => utimesSync(huge(place), 0, ++touched),
    raw: async (place) => scan(huge(place), deep(place)),
    call: (tools, place) => tools.read(huge(place), deep(place), 10),
    verify: (output, place) => output.includes(String(deep(place))),
    goals: [raw(1.5, 5), little, notBlocked],
    rounds: 5,
    isQuick: true,
  }),
  toolCase({
    name: 'read at line 10,000,000 of 1 GB, again',
    corpora: ['big'],
    root: big,
    raw: async (place) => scan(huge(place), deep(place)),
    call: (tools, place) => tools.read(huge(place), deep(place), 10),
    verify: (output, place) => output.includes(String(deep(place))),
    goals: [raw(0.1, 0.8), notBlocked],
    rounds: 5,
    isQuick: true,
  }),
  toolCase({
    name: 'read 500 source files in one call',
    note: 'raw is cat',
    corpora: ['growth'],
    root: many,
    raw: (place) => drained('sh', ['-c', 'cat $(find src -name "*.ts")'], { cwd: many(place) }),
    call: (tools) => tools.readMany(['src/**/*.ts']),
    verify: (output) => output.includes('value119'),
    goals: [raw(6, 30)],
    isQuick: true,
  }),
  ...[true, false].flatMap((isQuick) =>
    growthSizes(isQuick).megabytes.map((size) =>
      toolCase({
        name: `read the start of a file of ${size} MB`,
        corpora: ['growth'],
        root: ({ corpora }) => join(corpora, 'growth'),
        raw: async ({ corpora }) => readStart(join(corpora, 'growth', `text-${size}m.txt`), 170_000),
        call: (tools, { corpora }) => tools.read(join(corpora, 'growth', `text-${size}m.txt`), 0, 1000),
        goals: [],
        growth: { of: 'read the start, by MB', size },
        isOnlyQuick: isQuick,
        isQuick,
      }),
    ),
  ),
]);

let touched = 0;

function many({ corpora, isQuick }) {
  return join(corpora, 'growth', `files-${growthSizes(isQuick).files[0]}`);
}

/** Ours, with a limit as wide as that of the others. */
function ours(call) {
  return {
    lathe: async (place) => {
      const { open } = await import('../tools/lathe.mjs');
      const tools = await open({ ...place, root: big(place) }, { read: { lines: 2000, chars: 200_000 } });
      return { run: () => call(tools, place) };
    },
  };
}

function readStart(path, length) {
  const fd = openSync(path);
  const bytes = Buffer.allocUnsafe(length);
  const size = readSync(fd, bytes, 0, length, 0);
  closeSync(fd);
  return bytes.toString('utf8', 0, size);
}

function scan(path, wanted) {
  const fd = openSync(path);
  const buffer = Buffer.allocUnsafe(1 << 20);
  let lines = 0;
  for (let length = readSync(fd, buffer); length > 0 && lines < wanted; length = readSync(fd, buffer)) {
    const chunk = buffer.subarray(0, length);
    for (let at = chunk.indexOf(10); at !== -1 && lines < wanted; at = chunk.indexOf(10, at + 1)) lines++;
  }
  closeSync(fd);
}
