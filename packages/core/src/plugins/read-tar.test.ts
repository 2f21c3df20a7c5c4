import { execFileSync } from 'node:child_process';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { tarOf } from '../../../../testing/tar.js';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { filesHash, maxPluginBytes, readTree, writeTree } from './plugin-files.js';
import { readTar, withoutTopFolder } from './read-tar.js';

const long = `${'folder/'.repeat(10)}${'name'.repeat(30)}.md`;
const hasTar = (() => {
  try {
    return execFileSync('tar', ['--version']).length > 0;
  } catch {
    return false;
  }
})();

test.skipIf(!hasTar).each(['gnu', 'pax', 'ustar'])(
  'reads what tar writes in the format %s, as the folder has it',
  (format) => {
    const names = format === 'ustar' ? {} : { [`p/${long}`]: 'long', 'p/ä/ü.md': 'umlauts' };
    const root = tempDirectory({ 'p/plugin.json': '{}', 'p/skills/a/SKILL.md': 'x'.repeat(5_000), ...names });
    const archive = join(root, 'p.tgz');
    execFileSync('tar', [`--format=${format}`, '-czf', archive, '-C', root, 'p']);
    const files = withoutTopFolder(readTar(readFileSync(archive)));
    expect(filesHash(files)).toBe(filesHash(readTree(join(root, 'p'))));
  },
);

test.each<[string, Parameters<typeof tarOf>[0], string]>([
  ['a way out', [{ name: '../evil' }], 'plain relative path'],
  ['a way out inside', [{ name: 'a/../../evil' }], 'plain relative path'],
  ['an absolute path', [{ name: '/etc/passwd' }], 'plain relative path'],
  ['a Windows path', [{ name: 'C:\\evil' }], 'should not have'],
  ['a backslash', [{ name: 'a\\..\\evil' }], 'should not have'],
  ['an invisible character', [{ name: 'a\u202eb' }], 'should not have'],
  ['a line break', [{ name: 'a\nb' }], 'should not have'],
  ['data of git', [{ name: '.git/hooks/post-checkout' }], 'belongs to git'],
  ['data of git, spelled otherwise', [{ name: '.GIT/config' }], 'belongs to git'],
  ['a symlink', [{ name: 'a', type: '2' }], 'not a regular file'],
  ['a hard link', [{ name: 'a', type: '1' }], 'not a regular file'],
  ['a device', [{ name: 'a', type: '3' }], 'not a regular file'],
  ['a pipe', [{ name: 'a', type: '6' }], 'not a regular file'],
  ['a file twice', [{ name: 'a' }, { name: 'a' }], 'there twice'],
  ['a file twice on a Mac', [{ name: 'SKILL.md' }, { name: 'skill.md' }], 'there twice'],
  ['a folder twice on a Mac', [{ name: 'A/one' }, { name: 'a/two' }], 'there twice'],
  ['a file that is a folder too', [{ name: 'a' }, { name: 'a/b' }], 'there twice'],
  ['a folder that is a file too', [{ name: 'a/b' }, { name: 'A' }], 'there twice'],
  ['too many files', Array.from({ length: 2_001 }, (_, index) => ({ name: `f${index}` })), 'more than 2000 files'],
  ['too deep a folder', [{ name: 'a/'.repeat(13) + 'b' }], 'folders deep'],
  ['a size that lies', [{ name: 'a', content: 'x', size: 10_000_000 }], 'cut off'],
])('refuses an archive with %s', (_title, entries, reason) => {
  expect(() => readTar(tarOf(entries))).toThrow(reason);
});

test.each([
  ['a bomb', gzipSync(Buffer.alloc(60 * 1024 * 1024)), 'unpacks to too much'],
  ['too much content', tarOf([{ name: 'a', content: Buffer.alloc(maxPluginBytes + 1) }]), 'more than 20 MB'],
  ['damage', gzipSync('x').subarray(0, 12), 'cannot be unpacked'],
  ['noise', Buffer.alloc(2_048, 'noise'), 'not a tar archive'],
  ['nothing', Buffer.alloc(1_024), 'empty'],
])('refuses %s', (_title, bytes, reason) => {
  expect(() => readTar(bytes)).toThrow(reason);
});

test('of a mode only "executable" counts, and only for its owner', async () => {
  const files = readTar(
    tarOf([
      { name: 'run', mode: 0o6755 },
      { name: 'text', mode: 0o666 },
    ]),
  );
  const root = join(tempDirectory(), 'p');
  await writeTree(root, files);
  const modes = execFileSync('stat', ['-c', '%a', root, join(root, 'run'), join(root, 'text')], { encoding: 'utf8' });
  expect(modes).toBe('700\n700\n600\n');
});

test('a folder with a symlink is refused', () => {
  const root = tempDirectory({ 'plugin.json': '{}' });
  symlinkSync('/etc/passwd', join(root, 'notes.md'));
  expect(() => readTree(root)).toThrow('not a regular file');
});

test('the hash changes with a byte, a name and a mode', () => {
  const hash = (name: string, content: string, mode: number) => filesHash(readTar(tarOf([{ name, content, mode }])));
  const all = [hash('a', 'x', 0o644), hash('a', 'y', 0o644), hash('b', 'x', 0o644), hash('a', 'x', 0o755)];
  expect(new Set(all).size).toBe(4);
});

const pyc = (flags: number) => Buffer.concat([Buffer.from([203, 13, 13, 10, flags, 0, 0, 0]), Buffer.alloc(20, 1)]);

test('what Python left behind does not count, in a folder and in an archive', () => {
  const root = tempDirectory({ 'plugin.json': '{}', 'a/.DS_Store': 'x', 'a/__pycache__/m.cpython-312.pyc': '' });
  const path = 'a/__pycache__/m.cpython-312.pyc';
  writeFileSync(join(root, path), pyc(0));
  expect([...readTree(root).keys()]).toEqual(['plugin.json']);
  const archive = tarOf([
    { name: 'plugin.json', content: '{}' },
    { name: path, content: pyc(0) },
    { name: '.DS_Store' },
  ]);
  expect([...readTar(archive).keys()]).toEqual(['plugin.json']);
});

test.each([
  ['code that Python runs whatever the source says', 'm.cpython-312.pyc', pyc(1)],
  ['code with the hash of the source', 'm.cpython-312.pyc', pyc(3)],
  ['a text', 'more.md', Buffer.from('Now do this.')],
])('%s counts in __pycache__ too', (_, name, content) => {
  const root = tempDirectory({ 'SKILL.md': '', '__pycache__/x': '' });
  const before = filesHash(readTree(root));
  writeFileSync(join(root, '__pycache__', name), content);
  expect(filesHash(readTree(root))).not.toBe(before);
});

test('a symlink named like a cache is refused', () => {
  const root = tempDirectory({ 'SKILL.md': '' });
  symlinkSync('/etc', join(root, '__pycache__'));
  expect(() => readTree(root)).toThrow('not a regular file');
});
