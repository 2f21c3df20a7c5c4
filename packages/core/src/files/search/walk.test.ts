import { renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test, vi } from 'vitest';
import { tempDirectory } from '../../../../../testing/temp-directory.js';
import { toBytePath } from '../byte-path.js';
import { IgnoreRules } from '../ignore/ignore-rules.js';
import { listDirectory } from './list-directory.js';
import { mountsToSkip } from './mounts.js';
import { Ripgrep } from './ripgrep.js';
import { searchText } from './search-text.js';
import { type WalkOptions, walk } from './walk.js';
import { WalkNotes } from './walk-notes.js';

async function walked(root: string, options: Partial<WalkOptions> = {}): Promise<string[]> {
  const paths: string[] = [];
  const signal = new AbortController().signal;
  for await (const { path, files } of walk({
    directory: toBytePath(root),
    rules: new IgnoreRules([root]),
    signal,
    ...options,
  }))
    paths.push(...files.map((name) => (path + name).slice(root.length + 1)));
  return paths.toSorted();
}

async function listed(root: string, { signal, canRead }: Partial<WalkOptions>) {
  const options = { directory: toBytePath(root), rules: new IgnoreRules([root]), ignore: [], limit: 10, canRead };
  return listDirectory({ ...options, signal: signal ?? new AbortController().signal });
}

test('a walk yields every file once, links left alone', async () => {
  const root = tempDirectory({ 'a/b/c': '', 'a/d': '', e: '' });
  symlinkSync('.', join(root, 'a/self'));
  expect(await walked(root)).toEqual(['a/b/c', 'a/d', 'e']);
});

// RL04
test('a directory that is gone, or becomes a file, is noted', async () => {
  const root = tempDirectory({ file: '' });
  const notes = new WalkNotes();
  expect(await walked(join(root, 'none'), { notes })).toEqual([]);
  expect(notes.lines()).toEqual([`(directories that could not be read: ${root}/none/: ENOENT)`]);
  const others = new WalkNotes();
  expect(await walked(join(root, 'file'), { notes: others })).toEqual([]);
  expect(others.lines()).toEqual([`(directories that could not be read: ${root}/file/: ENOTDIR)`]);
});

/** As slow as very many rules. */
function slowly(seen: string[]): (path: string) => boolean {
  return (path) => {
    const end = performance.now() + 2;
    while (performance.now() < end);
    return seen.push(path) > 0;
  };
}

// RL11
test('an abort is heard in the middle of a directory whose entries take long to judge', async () => {
  const names = Array.from({ length: 500 }, (_, index) => `f${index}`);
  const root = tempDirectory(Object.fromEntries(names.map((name) => [name, ''])));
  for (const look of [walked, listed]) {
    const seen: string[] = [];
    const abort = new AbortController();
    const looking = look(root, { signal: abort.signal, canRead: slowly(seen) });
    setImmediate(() => abort.abort('enough'));
    await expect(looking).rejects.toBe('enough');
    expect(seen.length).toBeLessThan(100);
  }
});

test('a directory that takes long to judge comes in parts, each file once', async () => {
  const names = Array.from({ length: 100 }, (_, index) => `f${index}`);
  const root = tempDirectory(Object.fromEntries(names.map((name) => [name, ''])));
  expect(await walked(root, { canRead: slowly([]) })).toEqual(names.toSorted());
  const search = { pattern: '^', letters: 'exact', context: 0, path: toBytePath(root), kind: 'directory' } as const;
  writeFileSync(join(root, 'f7'), 'x');
  const found = await searchText(new Ripgrep(), {
    ...search,
    canRead: slowly([]),
    limit: 10,
    timeoutMs: 60_000,
    rules: new IgnoreRules([root]),
    signal: new AbortController().signal,
  });
  expect(found.files.map(({ path }) => path)).toEqual([join(root, 'f7')]);
});

test('a directory that has become a link is not walked', async () => {
  const root = tempDirectory({ 'a/b': '', 'other/c': '' });
  const notes = new WalkNotes();
  const swapped = walked(root, {
    notes,
    canRead: (path) => {
      if (path !== join(root, 'a')) return true;
      renameSync(path, join(root, 'was'));
      symlinkSync('other', path);
      return true;
    },
  });
  expect(await swapped).toEqual(['other/c']);
  expect(notes.lines()).toEqual([`(directories that could not be read: ${root}/a/: ENOTDIR)`]);
});

test('the event loop runs while a large tree is walked', async () => {
  const paths = Array.from({ length: 200 }, (_, index) => `d${index % 20}/f${index}`);
  const root = tempDirectory(Object.fromEntries(paths.map((path) => [path, ''])));
  const abort = new AbortController();
  const canRead = () => {
    for (const end = performance.now() + 1; performance.now() < end; );
    return true;
  };
  setImmediate(() => abort.abort('enough'));
  await expect(walked(root, { signal: abort.signal, canRead })).rejects.toBe('enough');
});

test('nothing of a walk is held after it', async () => {
  const root = tempDirectory({ 'a/b': '', c: '' });
  const walkOnce = async () => {
    const canRead = () => true;
    expect(await walked(root, { canRead })).toEqual(['a/b', 'c']);
    return new WeakRef(canRead);
  };
  const held = await walkOnce();
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  await vi.waitFor(() => {
    collect();
    expect(held.deref() === undefined).toBe(true);
  });
});

describe.skipIf(process.platform !== 'linux')('mounts', () => {
  // RL10, SJ05
  test('of the kernel and of the network below a directory are not entered', async () => {
    expect(mountsToSkip('/').get('/proc')).toBe('proc');
  });

  test('that are named themselves are not on the list', async () => {
    expect(mountsToSkip('/proc').has('/proc')).toBe(false);
    expect(mountsToSkip('/pro').size).toBe(0);
  });

  test('are noted by the walk that passes them by', async () => {
    const notes = new WalkNotes();
    const canRead = (path: string) => path === '/proc';
    expect((await walked('/', { canRead, notes })).filter((path) => path.startsWith('proc'))).toEqual([]);
    expect(notes.lines()).toEqual(['(file systems not entered: /proc/: proc)']);
  });
});
