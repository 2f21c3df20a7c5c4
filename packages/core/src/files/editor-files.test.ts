import { readFileSync, symlinkSync, unlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { createLathe, textOf } from '../index.js';
import type { Buffers } from './editor-files.js';

const { signal } = new AbortController();

/** A project, and an editor that has some of its files open. */
async function open(files: Record<string, string | Buffer>, options: Partial<Buffers> & { onRead?: () => void } = {}) {
  const cwd = tempDirectory(files);
  const home = tempDirectory();
  const shown = new Map<string, string>();
  const path = (name: string) => join(cwd, name);
  // An editor needs a moment to load a file that has just been written.
  for (const name of Object.keys(files)) utimesSync(path(name), 1, 1);
  const buffers: Buffers = {
    read: async (at) => {
      options.onRead?.();
      return shown.get(at);
    },
    write: async (at, text) => {
      shown.set(at, text);
    },
    ...options,
  };
  const lathe = await createLathe({
    cwd,
    env: { PATH: process.env['PATH'] },
    home,
    flags: { 'tools.approvalMode': 'auto-edit' },
    buffers,
  });
  onTestFinished(() => lathe.close());
  const call = async (name: string, args: Record<string, unknown>) => {
    const [outcome] = await lathe.run([{ name, args }], signal);
    return outcome?.error?.message ?? textOf(outcome?.llmContent ?? '');
  };
  return {
    cwd,
    lathe,
    path,
    shown,
    show: (name: string, text: string) => shown.set(path(name), text),
    disk: (name: string) => readFileSync(path(name), 'utf8'),
    read: (name: string) => call('read_file', { absolute_path: path(name) }),
    edit: (name: string, old_string: string, new_string: string) =>
      call('edit', { file_path: path(name), old_string, new_string }),
    write: (name: string, content: string) => call('write_file', { file_path: path(name), content }),
    call,
  };
}

test('unsaved text is what is read and edited, and the edit goes back to the editor', async () => {
  const at = await open({ 'a.txt': 'one\ntwo\n' });
  at.show('a.txt', 'one\nTYPED BUT NOT SAVED\ntwo\n');
  expect(await at.read('a.txt')).toBe('one\nTYPED BUT NOT SAVED\ntwo\n');
  expect(await at.call('read_many_files', { paths: [at.path('a.txt')] })).toContain('TYPED BUT NOT SAVED');
  expect(await at.edit('a.txt', 'two', '2')).toContain('not saved: commands and searches see the file on disk');
  expect(at.shown.get(at.path('a.txt'))).toBe('one\nTYPED BUT NOT SAVED\n2\n');
  expect(at.disk('a.txt')).toBe('one\ntwo\n');
});

test.each([
  ['the same', 'one\r\ntwo\r\n', 'one\r\ntwo\r\n'],
  ['with line endings of its own', 'one\r\ntwo\r\n', 'one\ntwo\n'],
  ['without a byte order mark', '\ufeffone\r\ntwo\r\n', 'one\ntwo\n'],
  ['without the last line break', 'one\r\ntwo\r\n', 'one\r\ntwo'],
])('a file that the editor shows as it is on disk (%s) is changed on disk, byte for byte', async (_, disk, shown) => {
  const at = await open({ 'a.txt': disk });
  at.show('a.txt', shown);
  await at.edit('a.txt', 'one', '1');
  expect(at.disk('a.txt')).toBe(disk.replace('one', '1'));
  expect(at.shown.get(at.path('a.txt'))).toBe(shown);
});

test('an editor that has not yet loaded our change does not undo it', async () => {
  const at = await open({ 'a.txt': 'one\ntwo\n' });
  at.show('a.txt', 'one\ntwo\n');
  await at.edit('a.txt', 'one', '1');
  expect(await at.read('a.txt')).toBe('1\ntwo\n');
  await at.edit('a.txt', 'two', '2');
  expect(at.disk('a.txt')).toBe('1\n2\n');
});

test('an editor gets a moment to load what another program has just written', async () => {
  let reads = 0;
  const at = await open({ 'a.txt': 'old\n' }, { onRead: () => ++reads === 3 && at.show('a.txt', 'new\n') });
  at.show('a.txt', 'old\n');
  writeFileSync(at.path('a.txt'), 'new\n');
  expect(await at.read('a.txt')).toBe('new\n');
});

test('write_file needs that the model has seen the unsaved text', async () => {
  const at = await open({ 'a.txt': 'one\n' });
  at.show('a.txt', 'one\n');
  await at.read('a.txt');
  at.show('a.txt', 'one, typed on\n');
  expect(await at.write('a.txt', 'mine\n')).toMatch(/changed since|read it/i);
  expect(at.shown.get(at.path('a.txt'))).toBe('one, typed on\n');
  await at.read('a.txt');
  await at.write('a.txt', 'mine\n');
  expect([at.shown.get(at.path('a.txt')), at.disk('a.txt')]).toEqual(['mine\n', 'one\n']);
});

test('undo brings unsaved text back to the editor, and leaves text that was typed since', async () => {
  const at = await open({ 'a.txt': 'one\n' });
  at.show('a.txt', 'one typed\n');
  await at.edit('a.txt', 'typed', 'changed');
  const undo = async () => (await at.lathe.host.changes.undo({ count: 1 }, signal)).map(({ status }) => status);
  at.show('a.txt', 'one changed, and more\n');
  expect(await undo()).toEqual(['skipped']);
  at.show('a.txt', 'one changed\n');
  expect(await undo()).toEqual(['restored']);
  expect([at.shown.get(at.path('a.txt')), at.disk('a.txt')]).toEqual(['one typed\n', 'one\n']);
});

test('text that was typed after the question is kept', async () => {
  const at = await open({ 'a.txt': 'one\n' }, { read: async () => `one ${reads++}\n` });
  let reads = 0;
  expect(await at.edit('a.txt', 'one', '1')).toContain('changed by another program meanwhile');
  expect(at.shown.size).toBe(0);
});

test('an editor that takes no text keeps its own', async () => {
  const at = await open({ 'a.txt': 'one\n' }, { read: async () => 'one typed\n', write: undefined as never });
  expect(await at.edit('a.txt', 'one', '1')).toContain('has unsaved changes in the editor. Ask the user to save it.');
  expect(at.disk('a.txt')).toBe('one\n');
});

test('the model learns that the editor formatted the text', async () => {
  const at = await open(
    { 'a.txt': 'one\n' },
    { write: async (path, text) => void at.shown.set(path, text.toUpperCase()) },
  );
  at.show('a.txt', 'one typed\n');
  expect(await at.edit('a.txt', 'one', 'two')).toContain('The editor has changed the text further.');
  expect(await at.write('a.txt', 'x')).toMatch(/changed since|read it/i);
});

test('the editor is not asked about images and directories, nor for files that are not there', async () => {
  const asked: string[] = [];
  const at = await open(
    { 'a.png': Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'), 'd/x': '' },
    { read: async (path) => (asked.push(path), 'secret') },
  );
  await at.read('a.png');
  expect(await at.read('d')).toContain('directory');
  expect(await at.read('missing.txt')).toContain('no such file');
  expect(asked).toEqual([]);
});

test('a symlink that takes the place of a file while the editor reads it is noticed', async () => {
  const secret = join(tempDirectory({ key: 'private key\n' }), 'key');
  const at = await open(
    { 'a.txt': 'one\n' },
    {
      read: async (path) => {
        unlinkSync(path);
        symlinkSync(secret, path);
        return readFileSync(path, 'utf8');
      },
    },
  );
  expect(await at.read('a.txt')).toMatch(/changed while it was being read/);
});
