import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { canMount } from '../../../../../testing/programs.js';
import { tempDirectory } from '../../../../../testing/temp-directory.js';
import { IgnoreRules } from '../ignore/ignore-rules.js';
import { type DurableWrite, writeDurably } from './durable-write.js';
import { tempPrefix } from './temp-name.js';

const signal = new AbortController().signal;

async function replace(path: string, content: string | Buffer, more: Partial<DurableWrite> = {}): Promise<void> {
  const handle = existsSync(path) ? await open(path) : undefined;
  try {
    const original = handle ? { fd: handle.fd, stat: await handle.stat({ bigint: true }) } : null;
    const token = randomBytes(16).toString('hex');
    await writeDurably({ path, pieces: [Buffer.from(content)], original, token, signal, ...more });
  } finally {
    await handle?.close();
  }
}

/** Whether a program does this to a file here: not every file system and not every user can. */
function works(program: string, args: string[], undo?: string[]): boolean {
  const path = join(tmpdir(), `lathe-probe-${program}-${process.pid}`);
  writeFileSync(path, '');
  const { status } = spawnSync(program, [...args, path], { stdio: 'ignore' });
  if (undo) spawnSync(program, [...undo, path], { stdio: 'ignore' });
  rmSync(path, { force: true });
  return status === 0;
}

const temps = (directory: string) => readdirSync(directory).filter((name) => name.startsWith(tempPrefix));

test('a file is replaced and nothing else is left in its directory', async () => {
  const root = tempDirectory({ 'a.txt': 'old' });
  await replace(join(root, 'a.txt'), 'new');
  expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('new');
  expect(readdirSync(root)).toEqual(['a.txt']);
});

// SC16
test('a new file gets the mode that the umask leaves, and its parents are created', async () => {
  const root = tempDirectory();
  await replace(join(root, 'x/y/z.txt'), 'new');
  expect(readFileSync(join(root, 'x/y/z.txt'), 'utf8')).toBe('new');
  expect(lstatSync(join(root, 'x/y/z.txt')).mode & 0o7777).toBe(0o666 & ~process.umask());
  expect(lstatSync(join(root, 'x/y/z.txt')).nlink).toBe(1);
});

// RW11, SC16
test.each([0o755, 0o600, 0o640, 0o4755, 0o2664])('mode %o is kept', async (mode) => {
  const root = tempDirectory({ f: 'old' });
  chmodSync(join(root, 'f'), mode);
  await replace(join(root, 'f'), 'new');
  expect(statSync(join(root, 'f')).mode & 0o7777).toBe(mode);
});

test('the time of the last change is that of the write', async () => {
  const root = tempDirectory({ f: 'old' });
  execFileSync('touch', ['-d', '2001-01-01', join(root, 'f')]);
  await replace(join(root, 'f'), 'new');
  expect(statSync(join(root, 'f')).mtimeMs).toBeGreaterThan(Date.now() - 3_600_000);
});

// RW11
test.skipIf(process.getuid?.() !== 0)('owner and group are kept', async () => {
  const root = tempDirectory({ f: 'old' });
  chownSync(join(root, 'f'), 65_534, 1234);
  await replace(join(root, 'f'), 'new');
  expect([statSync(join(root, 'f')).uid, statSync(join(root, 'f')).gid]).toEqual([65_534, 1234]);
});

test.skipIf(!works('setfattr', ['-n', 'user.a', '-v', 'b']) || !works('setfacl', ['-m', 'u:65534:r']))(
  'access list and attributes are kept',
  async () => {
    const root = tempDirectory({ f: 'old' });
    execFileSync('setfattr', ['-n', 'user.note', '-v', 'kept', join(root, 'f')]);
    execFileSync('setfacl', ['-m', 'u:65534:rw-', join(root, 'f')]);
    const facts = () => [
      execFileSync('getfattr', ['--only-values', '-n', 'user.note', '--absolute-names', join(root, 'f')], {
        encoding: 'utf8',
      }),
      execFileSync('getfacl', ['-cp', join(root, 'f')], { encoding: 'utf8' }),
    ];
    const before = facts();
    await replace(join(root, 'f'), 'new');
    expect(facts()).toEqual(before);
    expect(before[1]).toContain('user:nobody:rw-');
  },
);

// RW13, SC09
test('a hard-linked file is replaced under its name and the other name keeps the old content', async () => {
  const root = tempDirectory({ f: 'old' });
  linkSync(join(root, 'f'), join(root, 'other'));
  await replace(join(root, 'f'), 'new');
  expect([readFileSync(join(root, 'f'), 'utf8'), readFileSync(join(root, 'other'), 'utf8')]).toEqual(['new', 'old']);
});

test('content in many small and large pieces arrives in order', async () => {
  const root = tempDirectory({ f: 'old' });
  const pieces = Array.from({ length: 3000 }, (_, index) => randomBytes(index % 500 === 0 ? 1_500_000 : index % 7));
  await replace(join(root, 'f'), '', { pieces });
  expect(readFileSync(join(root, 'f')).equals(Buffer.concat(pieces))).toBe(true);
});

test('a read-only file is refused even for a user who could replace it', async () => {
  const root = tempDirectory({ f: 'old' });
  chmodSync(join(root, 'f'), 0o444);
  await expect(replace(join(root, 'f'), 'new')).rejects.toMatchObject({ type: 'permission_denied' });
  expect(readFileSync(join(root, 'f'), 'utf8')).toBe('old');
});

// RW24
test('a file replaced by another program since it was opened is not overwritten', async () => {
  const root = tempDirectory({ f: 'old', theirs: 'theirs' });
  const beforeCommit = async () => renameSync(join(root, 'theirs'), join(root, 'f'));
  await expect(replace(join(root, 'f'), 'new', { beforeCommit })).rejects.toMatchObject({
    type: 'file_changed_since_read',
  });
  expect(readFileSync(join(root, 'f'), 'utf8')).toBe('theirs');
  expect(temps(root)).toEqual([]);
});

test('a file that somebody else created meanwhile is not overwritten', async () => {
  const root = tempDirectory();
  const beforeCommit = async () => writeFileSync(join(root, 'f'), 'theirs');
  await expect(replace(join(root, 'f'), 'new', { beforeCommit })).rejects.toMatchObject({
    type: 'attempt_to_create_existing_file',
  });
  expect(readFileSync(join(root, 'f'), 'utf8')).toBe('theirs');
  expect(temps(root)).toEqual([]);
});

// RW30, SC07
test.skipIf(process.platform !== 'linux')('a parent swapped for a link after the check diverts nothing', async () => {
  const root = tempDirectory({ 'inside/f': 'old', 'outside/f': 'canary' });
  const beforeCommit = async () => {
    renameSync(join(root, 'inside'), join(root, 'moved'));
    symlinkSync(join(root, 'outside'), join(root, 'inside'));
  };
  await expect(replace(join(root, 'inside/f'), 'new', { beforeCommit })).rejects.toMatchObject({
    type: 'file_changed_since_read',
  });
  expect([readFileSync(join(root, 'outside/f'), 'utf8'), readFileSync(join(root, 'moved/f'), 'utf8')]).toEqual([
    'canary',
    'old',
  ]);
  expect([temps(join(root, 'outside')), temps(join(root, 'moved'))]).toEqual([[], []]);
});

test.skipIf(process.platform !== 'linux')('a directory reached through a link is refused', async () => {
  const root = tempDirectory({ 'outside/f': 'canary' });
  symlinkSync(join(root, 'outside'), join(root, 'link'));
  await expect(replace(join(root, 'link/f'), 'new')).rejects.toMatchObject({ type: 'file_write_failure' });
  await expect(replace(join(root, 'link/deep/f'), 'new')).rejects.toBeInstanceOf(Error);
  expect(readdirSync(join(root, 'outside'))).toEqual(['f']);
});

test.skipIf(process.platform !== 'linux')(
  'a directory removed meanwhile is an error and nothing is written',
  async () => {
    const root = tempDirectory({ 'd/f': 'old' });
    const beforeCommit = async () => rmSync(join(root, 'd'), { recursive: true });
    await expect(replace(join(root, 'd/f'), 'new', { beforeCommit })).rejects.toMatchObject({
      type: 'file_changed_since_read',
    });
    expect(existsSync(join(root, 'd'))).toBe(false);
  },
);

// SC15
test('the temporary file is private, random and never follows a planted link', async () => {
  const root = tempDirectory({ f: 'old', canary: 'canary' });
  symlinkSync(join(root, 'canary'), join(root, `${tempPrefix}${'0'.repeat(32)}`));
  await expect(replace(join(root, 'f'), 'new', { token: '0'.repeat(32) })).rejects.toMatchObject({
    type: 'file_write_failure',
  });
  expect(readFileSync(join(root, 'canary'), 'utf8')).toBe('canary');
  rmSync(join(root, `${tempPrefix}${'0'.repeat(32)}`), { force: true });

  const umask = process.umask(0);
  let mode = 0;
  const alongside = async () => void (mode = statSync(join(root, temps(root)[0] ?? '')).mode & 0o7777);
  await replace(join(root, 'new'), 'x', { alongside, beforeCommit: async () => {} }).finally(() =>
    process.umask(umask),
  );
  expect(mode & 0o111).toBe(0);
});

// RW29
test('a temporary file that a crash left is hidden from search', () => {
  const root = tempDirectory({ [`${tempPrefix}${'0'.repeat(32)}`]: 'half' });
  const rules = new IgnoreRules([root]);
  expect(rules.ignoredBy(join(root, `${tempPrefix}${'0'.repeat(32)}`), { isDirectory: false })).toBe('agent');
});

// RW32
test('an abort before the commit keeps the old file', async () => {
  const root = tempDirectory({ f: 'old' });
  const controller = new AbortController();
  const alongside = async () => controller.abort();
  await expect(replace(join(root, 'f'), 'new', { alongside, signal: controller.signal })).rejects.toThrow(/abort/i);
  expect([readFileSync(join(root, 'f'), 'utf8'), readdirSync(root)]).toEqual(['old', ['f']]);
});

test('directories made for a write that failed are taken back', async () => {
  const root = tempDirectory();
  const alongside = async () => {
    throw new Error('journal is full');
  };
  await expect(replace(join(root, 'a/b/f'), 'new', { alongside })).rejects.toThrow('journal is full');
  expect(readdirSync(root)).toEqual([]);
});

// RW26
test.each([
  ['a parent that is a file', 'f/x', 'file_write_failure'],
  ['a name of 256 bytes', 'n'.repeat(256), 'file_write_failure'],
  ['a path of 4,097 bytes', `${'d/'.repeat(2040)}${'n'.repeat(60)}`, 'file_write_failure'],
])('%s is a typed error', async (_, name, type) => {
  const root = tempDirectory({ f: 'old' });
  await expect(replace(join(root, name), 'new')).rejects.toMatchObject({ type });
  expect(readdirSync(root)).toEqual(['f']);
});

// RW28
test.skipIf(!works('chattr', ['+i'], ['-i']))(
  'an immutable file is an error and leaves no temporary file',
  async () => {
    const root = tempDirectory({ f: 'old' });
    execFileSync('chattr', ['+i', join(root, 'f')]);
    try {
      await expect(replace(join(root, 'f'), 'new')).rejects.toMatchObject({ type: 'permission_denied' });
      expect(temps(root)).toEqual([]);
    } finally {
      execFileSync('chattr', ['-i', join(root, 'f')]);
    }
  },
);

// RW04 RW05
test.skipIf(!canMount())('a full device and one without inodes keep the old file', async () => {
  const root = tempDirectory();
  for (const option of ['size=64k', 'nr_inodes=3']) {
    const mount = join(root, option.replace('=', '-'));
    mkdirSync(mount);
    execFileSync('mount', ['-t', 'tmpfs', '-o', option, 'tmpfs', mount]);
    try {
      writeFileSync(join(mount, 'f'), 'old');
      if (option.startsWith('nr')) writeFileSync(join(mount, 'g'), '');
      await expect(replace(join(mount, 'f'), Buffer.alloc(100_000))).rejects.toMatchObject({ type: 'no_space_left' });
      expect([readFileSync(join(mount, 'f'), 'utf8'), temps(mount)]).toEqual(['old', []]);
      execFileSync('mount', ['-o', 'remount,ro', mount]);
      await expect(replace(join(mount, 'f'), 'x')).rejects.toMatchObject({ type: 'permission_denied' });
    } finally {
      execFileSync('umount', [mount]);
    }
  }
});

test('a file of several chunks that shrinks and grows is exact', async () => {
  const root = tempDirectory({ f: '' });
  truncateSync(join(root, 'f'), 3_000_000);
  const content = randomBytes(2_500_001);
  await replace(join(root, 'f'), content);
  expect(readFileSync(join(root, 'f')).equals(content)).toBe(true);
  await replace(join(root, 'f'), '');
  expect(statSync(join(root, 'f')).size).toBe(0);
});
