import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { bundleChild } from '../../../../testing/bundle.js';
import { isLong, report, seed } from '../../../../testing/long-run.js';
import { randomBelow } from '../../../../testing/random.js';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { canInject, killPoints, runWithFault } from '../../../../testing/thread-fault.js';
import { SeenFiles } from '../files/access/seen-files.js';
import { LatheHome } from '../files/lathe-home.js';
import { Journal } from '../files/undo/journal.js';
import { Workspace } from '../files/workspace.js';
import { FileChanges } from '../files/write/file-changes.js';
import { FileLocks } from '../files/write/file-lock.js';
import { EditTool } from './edit.js';

const isRoot = process.getuid?.() === 0;

const cleanups: (() => void)[] = [];
let script = '';
beforeAll(async () => {
  script = await bundleChild('change-file', (remove) => cleanups.push(remove));
});
afterAll(() => {
  for (const clean of cleanups) clean();
});

interface Kind {
  name?: string;
  old: Buffer | null;
  edit: { old_string: string; new_string: string; replace_all?: boolean };
  prepare?: (path: string) => void;
}

const change = { old_string: 'needle', new_string: 'another text' };
const plain = (text: string, more: Partial<Kind> = {}): Kind => ({ old: Buffer.from(text), edit: change, ...more });
const big = (size: number) => `${'lorem ipsum\n'.repeat(size / 12)}needle\n${'dolor\n'.repeat(100)}`;

/** Kinds of file: contents, encodings, metadata, names and places. */
const kinds: Record<string, Kind> = {
  small: plain('a\nneedle\nb\n'),
  'one word': plain('needle'),
  crlf: plain('a\r\nneedle\r\nb\r\n'),
  'mixed endings': plain('a\r\nneedle\nb\r'),
  'byte order mark': plain('\uFEFFneedle\n'),
  'utf-16': { old: Buffer.from('\uFEFFa\r\nneedle\r\n', 'utf16le'), edit: change },
  'damaged utf-8': {
    old: Buffer.concat([Buffer.from(`${'你'.repeat(30)}\nneedle\n`), Buffer.from([0xff, 0xc0])]),
    edit: change,
  },
  'latin-1': { old: Buffer.from('caf\u00e9 \u00fcber na\u00efve needle\n', 'latin1'), edit: change },
  'many hits': plain('needle\n'.repeat(2000), { edit: { ...change, replace_all: true } }),
  'emptied file': plain('needle', { edit: { old_string: 'needle', new_string: '' } }),
  '64 KB': plain(big(64 << 10)),
  'new file': { old: null, edit: { old_string: '', new_string: 'hello\n' } },
  'new empty file': { old: null, edit: { old_string: '', new_string: '' } },
  'new file in new directories': { name: 'x/y/z.txt', old: null, edit: { old_string: '', new_string: 'hello\n' } },
  executable: plain('#!/bin/sh\nneedle\n', { prepare: (path) => chmodSync(path, 0o755) }),
  private: plain('needle\n', { prepare: (path) => chmodSync(path, 0o600) }),
  'set-id bits': plain('needle\n', { prepare: (path) => chmodSync(path, 0o6755) }),
  'another owner': plain('needle\n', { prepare: (path) => isRoot && chownSync(path, 65_534, 65_534) }),
  'extended attribute': plain('needle\n', {
    prepare: (path) => spawnSync('setfattr', ['-n', 'user.note', '-v', 'kept', path]),
  }),
  'access list': plain('needle\n', { prepare: (path) => spawnSync('setfacl', ['-m', 'u:65534:rw', path]) }),
  'hard link': plain('needle\n', { prepare: (path) => linkSync(path, `${path}.other`) }),
  'behind a link': plain('needle\n', { prepare: (path) => symlinkSync(path, `${path}.link`) }),
  'odd name': plain('needle\n', { name: "it's \n a “name” \\x" }),
  'deep directory': plain('needle\n', { name: 'a/b/c/d/e/f.txt' }),
  sparse: {
    old: Buffer.concat([Buffer.from('needle\n'.padEnd(9000)), Buffer.alloc(50_000, ' ')]),
    edit: change,
    prepare: (path) => truncateSync(path, 59_000),
  },
  // Last, because it has thousands of points.
  '3 MB': plain(big(3 << 20)),
};

interface Place {
  directory: string;
  path: string;
  task: { root: string; home: string; edits: { file_path: string; old_string: string; new_string: string }[] };
}

/** A fresh file of this kind in a directory of its own. */
function place({ name = 'file.txt', old, edit, prepare }: Kind): Place {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'lathe-kill-')));
  const path = join(directory, 'work', name);
  mkdirSync(join(directory, 'work'));
  if (old !== null) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, old);
    prepare?.(path);
  }
  const target = existsSync(`${path}.link`) ? `${path}.link` : path;
  const task = {
    root: join(directory, 'work'),
    home: join(directory, 'home'),
    edits: [{ file_path: target, ...edit }],
  };
  return { directory, path, task };
}

const contentOf = (path: string) => (existsSync(path) ? readFileSync(path) : null);
const sameContent = (a: Buffer | null, b: Buffer | null) => (a === null || b === null ? a === b : a.equals(b));
const temps = (directory: string) =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((name) => name.includes('.lathe-tmp-'));
const metadata = (path: string) => {
  const { mode, uid, gid } = statSync(path);
  return [mode, uid, gid];
};

/** The tool in this process, with the state that the child left. */
async function toolFor(directory: string): Promise<EditTool> {
  const home = new LatheHome(join(directory, 'home'));
  const changes = new FileChanges({ locks: new FileLocks(home), journal: new Journal(home), seen: new SeenFiles() });
  return new EditTool(await Workspace.open(join(directory, 'work')), changes);
}

const signal = new AbortController().signal;

/** Kills the call at one point, then checks the file, and that the next call works and cleans up. */
async function kill(kind: Kind, point: string, expected: Buffer): Promise<boolean> {
  const { directory, path, task } = place(kind);
  try {
    const before = kind.old === null ? undefined : metadata(path);
    const { killed } = await runWithFault(script, [JSON.stringify(task)], { inject: point });
    const found = contentOf(path);
    const isOld = sameContent(found, kind.old);
    expect(isOld || sameContent(found, expected), `torn at ${point}: ${found?.length} bytes`).toBe(true);
    if (before && found) expect(metadata(path), point).toEqual(before);
    if (existsSync(`${path}.other`)) expect(sameContent(contentOf(`${path}.other`), kind.old), point).toBe(true);
    if (!killed) return false;
    const tool = await toolFor(directory);
    if (isOld) for (const edit of task.edits) await tool.execute(edit, signal);
    else await tool.execute({ file_path: join(directory, 'work/next'), old_string: '', new_string: 'x' }, signal);
    expect(sameContent(contentOf(path), expected), point).toBe(true);
    expect(temps(join(directory, 'work')), `left at ${point}`).toEqual([]);
    return true;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** What an undisturbed call makes of the file. */
async function expectedOf(kind: Kind): Promise<Buffer> {
  const { directory, path, task } = place(kind);
  try {
    const tool = await toolFor(directory);
    for (const edit of task.edits) await tool.execute(edit, signal);
    return readFileSync(path);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** The system calls that an undisturbed call makes. */
async function callsOf(kind: Kind): Promise<string[]> {
  const { directory, task } = place(kind);
  try {
    const record = join(directory, 'record');
    const { answer, calls } = await runWithFault(script, [JSON.stringify(task)], { record });
    expect(answer).toEqual({ status: 'written' });
    expect(temps(join(directory, 'work'))).toEqual([]);
    return calls;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** All of a list, or this many evenly chosen: a large file is written in thousands of calls of the same kind. */
function spread<T>(list: readonly T[], most: number): T[] {
  const step = Math.max(1, list.length / most);
  return list.filter((_, index) => Math.floor(index / step) !== Math.floor((index - 1) / step));
}

/** A few at a time, which is what a small machine can do. */
async function aFewAtATime<T, R>(items: readonly T[], run: (item: T) => Promise<R>): Promise<R[]> {
  const queue = items.entries();
  const results: R[] = [];
  const worker = async () => {
    for (const [index, item] of queue) results[index] = await run(item);
  };
  await Promise.all(Array.from({ length: isLong ? 4 : 2 }, worker));
  return results;
}

describe.skipIf(!canInject)('RW01 killed at any system call, the file is old or new', () => {
  const named = Object.entries(kinds);

  test.skipIf(isLong)('a point for each of many kinds of file', { timeout: 300_000 }, async () => {
    const points = killPoints(await callsOf(kinds['small'] ?? plain('needle')));
    const chosen = named.map(([, kind], index) => ({
      kind,
      point: points[Math.floor((index * points.length) / named.length)] ?? '',
    }));
    const killed = await aFewAtATime(chosen, async ({ kind, point }) => kill(kind, point, await expectedOf(kind)));
    expect(killed.filter(Boolean).length).toBeGreaterThan(18);
  });

  test.skipIf(!isLong).each(named)('%s, at every point', { timeout: 1_800_000 }, async (_, kind) => {
    const expected = await expectedOf(kind);
    const points = spread(killPoints(await callsOf(kind)), 400);
    const killed = await aFewAtATime(points, (point) => kill(kind, point, expected));
    report('kills of a write at a system call', killed.filter(Boolean).length);
    expect(killed.filter(Boolean).length).toBeGreaterThan(points.length * 0.9);
  });
});

// RW06 RW07 RW09: errno injection; RW33: what a network drive answers (ESTALE, a lie about what was written)
describe.skipIf(!canInject)('a system call that fails is a typed error, and the old file is intact', () => {
  const named = [
    ['pwrite64', 'ENOSPC', 'no_space_left'],
    ['pwrite64', 'EIO', 'file_write_failure'],
    ['fsync', 'EIO', 'file_write_failure'],
    ['fsync', 'EDQUOT', 'no_space_left'],
    ['rename', 'EACCES', 'permission_denied'],
    ['rename', 'EXDEV', 'file_write_failure'],
    ['rename', 'EROFS', 'permission_denied'],
    ['symlink', 'EROFS', 'permission_denied'],
  ] as const;

  test.each(named)('%s with %s', async (call, errno, type) => {
    const { status, answer } = await fail(`${call}:error=${errno}:when=1`);
    expect([status, answer?.type]).toEqual(['old', type]);
  });

  const calls = [
    'openat',
    'pwrite64',
    'pread64',
    'fsync',
    'rename',
    'link',
    'unlink',
    'close',
    'fchmod',
    'symlink',
    'readlink',
    'mkdir',
    'statx',
  ];

  /** A failure changed nothing, unless it says that it did: when only the directory could not be flushed. */
  const isOffence = ({ answer, status }: Awaited<ReturnType<typeof fail>>) => {
    if (answer?.status === 'written') return status !== 'new';
    const isHonest = status === 'old' || (status === 'new' && answer?.message?.includes('new content') === true);
    return answer === undefined || answer.type === 'bug' || !isHonest;
  };

  test.skipIf(!isLong)('any call of the write path, any error', { timeout: 3_600_000 }, async () => {
    const errors = ['ENOSPC', 'EIO', 'EDQUOT', 'EACCES', 'EPERM', 'EROFS', 'EXDEV', 'EMFILE', 'ESTALE'];
    const points = killPoints(await callsOf(plain('a\nneedle\nb\n')))
      .map((point) => point.replace('signal=KILL', 'error=ERRNO'))
      .filter((point) => calls.includes(point.split(':')[0] ?? ''));
    const faults = points.map((point, index) => point.replace('ERRNO', errors[index % errors.length] ?? 'EIO'));
    const outcomes = await aFewAtATime(faults, async (fault) => ({ fault, ...(await fail(fault)) }));
    expect(outcomes.filter(isOffence)).toEqual([]);
    report('failing system calls in a write', outcomes.length);
  });

  // RC04
  test('a disk on which calls fail again and again', { timeout: 600_000 }, async () => {
    const below = randomBelow(seed);
    const faults = Array.from({ length: isLong ? 400 : 8 }, () => {
      const failing = calls.filter((call) => call !== 'unlink' && below(3) > 0).join(',');
      return `${failing}:error=EIO:when=${1 + below(40)}+${1 + below(30)}`;
    });
    const outcomes = await aFewAtATime(faults, async (fault) => ({ fault, ...(await fail(fault)) }));
    expect(outcomes.filter(isOffence), `LATHE_SEED=${seed}`).toEqual([]);
    report('writes on a disk that fails again and again', outcomes.length);
  });

  // RW10
  test.each(['pwrite64', 'fsync'])('an interrupted %s is made again', async (call) => {
    const { status, answer } = await fail(`${call}:error=EINTR:when=1`);
    expect([status, answer?.status]).toEqual(['new', 'written']);
  });

  // RW10
  test('a device that is busy', async () => {
    const { status, answer } = await fail('pwrite64:error=EAGAIN:when=1');
    expect([status, answer?.type]).toEqual(['old', 'file_write_failure']);
  });

  // RW10
  test('a device that takes no bytes', async () => {
    const { status, answer } = await fail('pwrite64:retval=0:when=1');
    expect([status, answer?.type]).toEqual(['old', 'file_write_failure']);
  });

  test('a device that says it took all bytes and took none', async () => {
    const kind = plain('a\nneedle\nb\n');
    const size = (await expectedOf(kind)).length;
    const { status, answer } = await fail(`pwrite64:retval=${size}:when=1`);
    expect([status, answer?.message]).toEqual(['old', expect.stringContaining('did not return the bytes')]);
  });

  /** The outcome of a call in which one system call fails. */
  async function fail(inject: string) {
    const kind = plain('a\nneedle\nb\n');
    const { directory, path, task } = place(kind);
    try {
      const { answer } = await runWithFault(script, [JSON.stringify(task)], { inject });
      const found = contentOf(path);
      const status = sameContent(found, kind.old) ? 'old' : sameContent(found, await expectedOf(kind)) ? 'new' : 'torn';
      if (!inject.startsWith('unlink')) expect(temps(directory), inject).toEqual([]);
      return { answer, status };
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  }
});

// RW02 RW03: what a disk holds after a power cut is what was flushed before it.
describe.skipIf(!canInject)('the content is flushed before it takes the name, and the name before success', () => {
  test.each(['small', 'new file'])('%s', async (name) => {
    const { directory, task } = place(kinds[name] ?? plain('needle'));
    try {
      const record = join(directory, 'record');
      await runWithFault(script, [JSON.stringify(task)], { record });
      const calls = readFileSync(record, 'utf8').split('\n');
      const opened = calls.findIndex((call) => /^openat.*\.lathe-tmp-.*O_CREAT/.test(call));
      const named = calls.findIndex((call) => /^(?:rename|link)\(.*\.lathe-tmp-/.test(call));
      const temp = /= (\d+)$/.exec(calls[opened] ?? '')?.[1];
      const folder = /\/proc\/self\/fd\/(\d+)\//.exec(calls[named] ?? '')?.[1];
      const before = calls.slice(opened, named);
      const written = before.findLastIndex((call) => call.startsWith(`pwrite64(${temp},`));
      const flushed = before.findLastIndex((call) => call.startsWith(`fsync(${temp})`) && call.endsWith('= 0'));
      expect([written > 0, flushed > written]).toEqual([true, true]);
      const journal = before.filter((call) => /^rename\(.*journal/.test(call));
      expect(journal).toHaveLength(name === 'small' ? 2 : 1);
      expect(calls.slice(named).filter((call) => call.startsWith('fsync('))).toEqual([
        expect.stringMatching(new RegExp(`^fsync\\(${folder}\\) += 0$`)),
      ]);
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  });
});

// RW24
test.skipIf(!canInject)(
  'a save by an editor at the very moment of the rename is reported and can be brought back',
  { timeout: 60_000 },
  async () => {
    const { directory, path, task } = place(plain('a\nneedle\nb\n'));
    try {
      const call = runWithFault(script, [JSON.stringify(task)], { inject: 'rename:delay_enter=3000000:when=1' });
      await vi.waitFor(() => expect(temps(directory)).toHaveLength(1), { timeout: 20_000, interval: 5 });
      // The delay is far longer than what is left to do before the rename, so this falls into it.
      await delay(1000);
      writeFileSync(path, 'theirs');
      expect((await call).answer).toMatchObject({ status: 'failed', type: 'file_changed_since_read' });
      const home = new LatheHome(join(directory, 'home'));
      const changes = new FileChanges({
        locks: new FileLocks(home),
        journal: new Journal(home),
        seen: new SeenFiles(),
      });
      if (readFileSync(path, 'utf8') !== 'theirs') await changes.undo({ count: 1 }, signal);
      expect(readFileSync(path, 'utf8')).toBe('theirs');
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  },
);

async function runPlain(
  task: object,
  uid?: number,
): Promise<{ status: string; type?: string; message?: string } | undefined> {
  return (await runWithFault(script, [JSON.stringify(task)], uid === undefined ? {} : { uid })).answer;
}

// RW23
test('200 parallel edits of one file from four processes are all made', { timeout: 3_600_000 }, async () => {
  const home = tempDirectory();
  const rounds = isLong ? 50 : 1;
  for (let round = 0; round < rounds; round++) {
    const root = tempDirectory({ f: Array.from({ length: 200 }, (_, index) => `<${index}>\n`).join('') });
    const tasks = [0, 1, 2, 3].map((part) => ({
      root,
      home,
      edits: Array.from({ length: 50 }, (_, index) => ({
        file_path: join(root, 'f'),
        old_string: `<${part + 4 * index}>`,
        new_string: `[${part + 4 * index}]`,
      })),
    }));
    expect(await Promise.all(tasks.map((task) => runPlain(task)))).toEqual(tasks.map(() => ({ status: 'written' })));
    expect(readFileSync(join(root, 'f'), 'utf8')).toBe(
      Array.from({ length: 200 }, (_, index) => `[${index}]\n`).join(''),
    );
    expect(readdirSync(join(home, 'locks'))).toEqual([]);
  }
  report('parallel edits of one file', 200 * rounds);
});

// RW08 RW11
describe.skipIf(!isRoot)('without privileges', () => {
  const setUp = (mode: number, fileMode: number) => {
    const root = tempDirectory({ 'd/f': 'old' });
    const home = tempDirectory();
    for (const path of [root, home, join(root, 'd/f')]) chownSync(path, 65_534, 65_534);
    chmodSync(dirname(script), 0o755);
    chmodSync(join(root, 'd/f'), fileMode);
    chownSync(join(root, 'd'), 65_534, 65_534);
    chmodSync(join(root, 'd'), mode);
    const edit = { file_path: join(root, 'd/f'), old_string: 'old', new_string: 'new' };
    return { root, home, task: { root, home, edits: [edit] } };
  };

  test.each([
    ['a directory that is not writable', 0o555, 0o644],
    ['a file that is not writable', 0o755, 0o444],
    ['a file that is not readable', 0o755, 0o200],
  ])('%s is refused and nothing changes', async (_, mode, fileMode) => {
    const { root, task } = setUp(mode, fileMode);
    expect(await runPlain(task, 65_534)).toMatchObject({ status: 'failed', type: 'permission_denied' });
    expect([readFileSync(join(root, 'd/f'), 'utf8'), temps(root)]).toEqual(['old', []]);
  });

  test('a file of another owner is refused rather than taken over', async () => {
    const { root, task } = setUp(0o777, 0o666);
    chownSync(join(root, 'd/f'), 0, 0);
    expect(await runPlain(task, 65_534)).toMatchObject({ status: 'failed', type: 'permission_denied' });
    expect([statSync(join(root, 'd/f')).uid, readFileSync(join(root, 'd/f'), 'utf8'), temps(root)]).toEqual([
      0,
      'old',
      [],
    ]);
  });

  test('its own file is edited', async () => {
    const { root, task } = setUp(0o755, 0o640);
    expect(await runPlain(task, 65_534)).toEqual({ status: 'written' });
    const { uid, mode } = statSync(join(root, 'd/f'));
    expect([uid, mode & 0o777, readFileSync(join(root, 'd/f'), 'utf8')]).toEqual([65_534, 0o640, 'new']);
  });
});

// RW30, SC07
test.skipIf(process.platform !== 'linux')(
  'directories swapped for links while edits run let nothing out',
  { timeout: 120_000 },
  async () => {
    const outside = tempDirectory({ f: 'needle 0\n' });
    const root = tempDirectory({ 'd/f': 'needle 0\n' });
    const flipper = spawn(
      'sh',
      ['-c', `cd "${root}" && while :; do mv -T d kept && ln -s "${outside}" d && rm d && mv -T kept d; done`],
      { stdio: 'ignore', detached: true },
    );
    const edits = isLong ? 400 : 60;
    const home = new LatheHome(tempDirectory());
    const changes = new FileChanges({ locks: new FileLocks(home), journal: new Journal(home), seen: new SeenFiles() });
    const tool = new EditTool(await Workspace.open(root), changes);
    let made = 0;
    for (let index = 0; index < edits; index++) {
      const params = {
        file_path: join(root, 'd/f'),
        old_string: `needle ${made}\n`,
        new_string: `needle ${made + 1}\n`,
      };
      const isMade = await tool.execute(params, new AbortController().signal).then(
        () => true,
        () => false,
      );
      if (isMade) made++;
    }
    // The whole group: a move that is still under way would continue without its shell.
    process.kill(-(flipper.pid ?? 0), 'SIGKILL');
    await once(flipper, 'close');
    expect(readFileSync(join(outside, 'f'), 'utf8')).toBe('needle 0\n');
    expect(readdirSync(outside)).toEqual(['f']);
    const kept = ['d', 'kept'].find(
      (name) =>
        existsSync(join(root, name, 'f')) &&
        !execFileSync('readlink', ['-f', join(root, name)], { encoding: 'utf8' }).startsWith(outside),
    );
    expect(readFileSync(join(root, kept ?? 'd', 'f'), 'utf8')).toBe(`needle ${made}\n`);
  },
);
