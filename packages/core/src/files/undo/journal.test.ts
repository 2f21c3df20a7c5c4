import { existsSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tempDirectory } from '../../../../../testing/temp-directory.js';
import { SeenFiles } from '../access/seen-files.js';
import { LatheHome } from '../lathe-home.js';
import { FileChanges } from '../write/file-changes.js';
import { FileLocks } from '../write/file-lock.js';
import { Journal, type JournalLimits } from './journal.js';

const signal = new AbortController().signal;

function setUp(files: Record<string, string> = {}, limits: JournalLimits = {}) {
  const root = tempDirectory(files);
  const home = new LatheHome(tempDirectory());
  const journal = new Journal(home, limits);
  const changes = new FileChanges({ locks: new FileLocks(home), journal, seen: new SeenFiles() });
  const write = (name: string, content: string) =>
    changes.change({ path: join(root, name), tool: 'test', signal, decide: async () => [Buffer.from(content)] });
  const read = (name: string) => readFileSync(join(root, name), 'utf8');
  const undo = async (which: { count: number } | { turn: string }) =>
    (await changes.undo(which, signal)).map((outcome) =>
      outcome.status === 'skipped' ? `skipped: ${outcome.reason}` : outcome.status,
    );
  return { root, home, journal, changes, write, read, undo };
}

test('changes are listed newest first, with their turn', async () => {
  const { root, journal, write } = setUp({ f: 'a' });
  journal.beginTurn('one');
  await write('f', 'b');
  journal.beginTurn('two');
  await write('g', 'c');
  expect((await journal.list()).map(({ path, turn, before }) => [path, turn, before === null])).toEqual([
    [join(root, 'g'), 'two', true],
    [join(root, 'f'), 'one', false],
  ]);
  expect(await journal.list(1)).toHaveLength(1);
});

test('a whole turn is undone, file by file, back to where it began', async () => {
  const { root, journal, write, read, undo } = setUp({ f: 'a', g: 'g' });
  journal.beginTurn('one');
  await write('g', 'h');
  journal.beginTurn('two');
  await write('f', 'b');
  await write('f', 'c');
  await write('new', 'n');
  expect(await undo({ turn: 'two' })).toEqual(['removed', 'restored', 'restored']);
  expect([read('f'), read('g'), existsSync(join(root, 'new'))]).toEqual(['a', 'h', false]);
  expect((await journal.list()).map(({ turn }) => turn)).toEqual(['one']);
});

test('undoing a new file also removes the directories made for it, unless something else is in them', async () => {
  const { root, write, undo } = setUp({ 'a/kept': '' });
  await write('a/b/c/new', 'n');
  expect(await undo({ count: 1 })).toEqual(['removed']);
  expect(readdirSync(root, { recursive: true })).toEqual(['a', 'a/kept']);
  await write('a/b/c/new', 'n');
  writeFileSync(join(root, 'a/b/theirs'), '');
  expect(await undo({ count: 1 })).toEqual(['removed']);
  expect(readdirSync(join(root, 'a/b'))).toEqual(['theirs']);
});

test('an old content that was damaged meanwhile is not brought back', async () => {
  const { home, write, undo, read } = setUp({ f: 'a' });
  await write('f', 'b');
  for (const name of readdirSync(home.file('journal', 'blobs')))
    writeFileSync(home.file('journal', 'blobs', name), 'damaged');
  expect(await undo({ count: 1 })).toEqual(['skipped: its old content is no longer kept']);
  expect(read('f')).toBe('b');
});

test('a file that somebody else changed or removed is skipped', async () => {
  const { root, write, read, undo } = setUp({ f: 'a', g: 'a' });
  await write('f', 'b');
  await write('g', 'b');
  writeFileSync(join(root, 'f'), 'theirs');
  rmSync(join(root, 'g'));
  expect(await undo({ count: 2 })).toEqual([
    'skipped: it was removed since',
    'skipped: it was changed by another program since',
  ]);
  expect(read('f')).toBe('theirs');
});

test('a change that never happened, or that is already taken back, is nothing to undo', async () => {
  const { root, journal, write, read, undo } = setUp({ f: 'a' });
  const before = 'ypeBEsobvcr6wjGzmiPcTaeG7_gUfE5yuYB3ha_uSLs';
  await journal.record({ tool: 'test', path: join(root, 'f'), before, after: 'x' }, Buffer.from('a'));
  expect(await undo({ count: 1 })).toEqual([]);
  await write('f', 'b');
  await write('f', 'c');
  await write('f', 'd');
  await write('new', 'n');
  await write('new', 'm');
  writeFileSync(join(root, 'f'), 'b');
  rmSync(join(root, 'new'));
  expect(await undo({ count: 1 })).toEqual(['restored']);
  expect(read('f')).toBe('a');
  expect(await undo({ count: 9 })).toEqual([]);
  // As after `/rewind redo`.
  writeFileSync(join(root, 'new'), 'm');
  expect(await undo({ count: 2 })).toEqual(['restored', 'removed']);
});

test('a change that failed is not in the journal', async () => {
  const { root, journal, changes } = setUp({ f: 'a' });
  const decide = async () => {
    writeFileSync(join(root, 'f'), 'theirs');
    return [Buffer.from('b')];
  };
  await expect(changes.change({ path: join(root, 'f'), tool: 'test', signal, decide })).rejects.toMatchObject({
    type: 'file_changed_since_read',
  });
  expect(await journal.list()).toEqual([]);
});

test('everything in it is private, and equal contents are kept once', async () => {
  const { home, write } = setUp({ f: 'same', g: 'same' });
  await write('f', 'b');
  await write('g', 'b');
  for (const name of ['blobs', 'changes']) {
    expect(statSync(home.file('journal', name)).mode & 0o777).toBe(0o700);
    for (const file of readdirSync(home.file('journal', name)))
      expect(statSync(home.file('journal', name, file)).mode & 0o777).toBe(0o600);
  }
  expect(readdirSync(home.file('journal', 'blobs'))).toHaveLength(1);
});

test('the oldest changes are forgotten when there are too many, or too large ones', async () => {
  const many = setUp({ f: '0' }, { maxChanges: 10 });
  for (let index = 1; index <= 25; index++) await many.write('f', String(index));
  const kept = await many.journal.list();
  expect(kept.length).toBeLessThanOrEqual(10);
  expect(await many.undo({ count: 1 })).toEqual(['restored']);
  expect(many.read('f')).toBe('24');

  const large = setUp({ f: '' }, { maxBytes: 100_000 });
  const blobs = large.home.file('journal', 'blobs');
  for (let index = 0; index < 12; index++) {
    await large.write('f', String(index).padEnd(20_000));
    for (const name of readdirSync(blobs)) utimesSync(join(blobs, name), 0, 0);
  }
  const total = readdirSync(blobs).reduce((sum, name) => sum + statSync(join(blobs, name)).size, 0);
  expect(total).toBeLessThanOrEqual(140_000);
});

test('a damaged entry or a lost content does not stop undo', async () => {
  const { home, write, undo, read } = setUp({ f: 'a' });
  await write('f', 'b');
  await write('f', 'c');
  const entries = readdirSync(home.file('journal', 'changes')).sort();
  writeFileSync(home.file('journal', 'changes', entries[0] ?? ''), '{"half');
  expect(await undo({ count: 5 })).toEqual(['restored']);
  expect(read('f')).toBe('b');
  await write('f', 'd');
  for (const name of readdirSync(home.file('journal', 'blobs'))) rmSync(home.file('journal', 'blobs', name));
  expect(await undo({ count: 1 })).toEqual(['skipped: its old content is no longer kept']);
});

// RP15
test('the order does not depend on the clock', async () => {
  const { journal, write } = setUp({ f: 'a' });
  await write('f', 'b');
  const original = Date.now;
  Date.now = () => 0;
  await write('f', 'c').finally(() => (Date.now = original));
  expect((await journal.list()).map(({ id }) => Number(id.slice(0, 12)))).toEqual([2, 1]);
});
