import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { toBytePath } from './byte-path.js';
import { IgnoreRules } from './ignore-rules.js';
import { mountsToSkip } from './mounts.js';
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

test('the event loop runs while a large tree is walked', async () => {
  const paths = Array.from({ length: 2000 }, (_, index) => `d${index % 20}/f${index}`);
  const root = tempDirectory(Object.fromEntries(paths.map((path) => [path, ''])));
  const abort = new AbortController();
  const repeated = async () => {
    for (;;) await walked(root, { signal: abort.signal });
  };
  setImmediate(() => abort.abort('enough'));
  await expect(repeated()).rejects.toBe('enough');
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
