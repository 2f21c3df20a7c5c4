import { chmodSync, readdirSync, readFileSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { directCall } from '../contract/tool-call.js';
import { contentHash, SeenFiles } from '../files/access/seen-files.js';
import { LatheHome } from '../files/lathe-home.js';
import { Journal } from '../files/undo/journal.js';
import { Workspace } from '../files/workspace.js';
import { FileChanges } from '../files/write/file-changes.js';
import { FileLocks } from '../files/write/file-lock.js';
import { WriteFileTool } from './write-file.js';

const signal = new AbortController().signal;

async function setUp(files: Record<string, string | Uint8Array> = {}) {
  const root = tempDirectory(files);
  const home = new LatheHome(tempDirectory());
  const seen = new SeenFiles();
  const changes = new FileChanges({ locks: new FileLocks(home), journal: new Journal(home), seen });
  const tool = new WriteFileTool(await Workspace.open(root), changes);
  const path = (name: string) => join(root, name);
  const write = (name: string, content: string) => tool.execute({ file_path: path(name), content }, signal);
  /** As if the model had read the file. */
  const see = (name: string) => seen.record(path(name), contentHash(readFileSync(path(name))));
  return { root, tool, seen, path, write, see, read: (name: string) => readFileSync(path(name), 'utf8') };
}

test('a new file is created with its parents', async () => {
  const { write, read, path } = await setUp();
  const result = await write('a/b/f', 'x\ny\n');
  expect(read('a/b/f')).toBe('x\ny\n');
  expect(result.llmContent).toBe(`Created ${path('a/b/f')}.`);
  expect(result.returnDisplay).toMatchObject({
    fileDiff: '--- /dev/null\n+++ a/b/f\n@@ -0,0 +1,2 @@\n+x\n+y\n',
    originalContent: null,
    newContent: 'x\ny\n',
    diffStat: { model_added_lines: 2, model_removed_lines: 0 },
  });
});

test('a file that was read is overwritten, and what was written counts as read', async () => {
  const { write, read, see, path } = await setUp({ f: 'a\nb\nc\n' });
  see('f');
  const result = await write('f', 'a\nB\nc\n');
  expect(result.llmContent).toBe(`Overwrote ${path('f')}.`);
  expect(result.returnDisplay).toMatchObject({ fileDiff: '--- f\n+++ f\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n' });
  await write('f', '');
  expect(read('f')).toBe('');
});

// RW22 RW31
describe('freshness is judged by content', () => {
  test('a file that was never read, or changed since, is not overwritten', async () => {
    const { write, read, see, path } = await setUp({ f: 'a' });
    await expect(write('f', 'b')).rejects.toMatchObject({ type: 'edit_requires_prior_read' });
    see('f');
    writeFileSync(path('f'), 'theirs');
    await expect(write('f', 'b')).rejects.toMatchObject({ type: 'file_changed_since_read' });
    expect(read('f')).toBe('theirs');
  });

  test('a touched but unchanged file is', async () => {
    const { write, read, see, path } = await setUp({ f: 'a' });
    see('f');
    utimesSync(path('f'), new Date('2036-01-01'), new Date('2036-01-01'));
    await write('f', 'b');
    expect(read('f')).toBe('b');
  });

  test('a file read in part is not, until the rest is read too', async () => {
    const { write, read, seen, path } = await setUp({ f: 'a\nb\n' });
    const hash = contentHash(readFileSync(path('f')));
    seen.recordLines(path('f'), hash, { first: 0, next: 1 }, 2);
    await expect(write('f', 'x')).rejects.toMatchObject({ type: 'edit_requires_prior_read' });
    seen.recordLines(path('f'), hash, { first: 1, next: 2 }, 2);
    await write('f', 'x');
    expect(read('f')).toBe('x');
  });

  test('an empty file needs no reading', async () => {
    const { write, read } = await setUp({ f: '' });
    await write('f', 'b');
    expect(read('f')).toBe('b');
  });
});

// RW34
test('the same content is not written again', async () => {
  const { write, see, path } = await setUp({ f: 'a\n' });
  see('f');
  const before = statSync(path('f'), { bigint: true });
  const result = await write('f', 'a\n');
  expect(result.llmContent).toContain('already has this content');
  expect(statSync(path('f'), { bigint: true })).toEqual(before);
});

// RW14 RW15 RW16 RW17
describe('what the file is stays', () => {
  test.each([
    ['CRLF', 'a\r\nb\r\n', 'a\nX\nc\n', 'a\r\nX\r\nc\r\n'],
    ['a byte order mark', '\uFEFFa\n', 'b\n', '\uFEFFb\n'],
    ['a byte order mark that is given too', '\uFEFFa\n', '\uFEFFb\n', '\uFEFFb\n'],
    ['mixed endings of lines that are repeated', 'a\r\nb\nc\r\nd\n', 'a\nb\nX\nd\n', 'a\r\nb\nX\r\nd\n'],
    ['mixed endings around a new line', 'a\r\nb\n', 'a\nnew\nb\n', 'a\r\nnew\nb\n'],
    ['a missing last line break', 'a\r\nb', 'a\nc', 'a\r\nc'],
    ['carriage returns that are spelled out', 'a\nb\n', 'a\r\nb\r\n', 'a\r\nb\r\n'],
  ])('%s', async (_, before, content, after) => {
    const { write, read, see } = await setUp({ f: before });
    see('f');
    await write('f', content);
    expect(read('f')).toBe(after);
  });

  test('damaged bytes of lines that are repeated', async () => {
    const damaged = Buffer.concat([Buffer.from([0x61, 0xff, 0x0a]), Buffer.from(`b\n${'你'.repeat(20)}\n`)]);
    const { write, see, path } = await setUp({ f: damaged });
    see('f');
    await write('f', `a\uFFFD\nX\n${'你'.repeat(20)}\n`);
    expect(readFileSync(path('f'))).toEqual(
      Buffer.concat([Buffer.from([0x61, 0xff, 0x0a]), Buffer.from(`X\n${'你'.repeat(20)}\n`)]),
    );
  });

  test('UTF-16 and Latin-1', async () => {
    const { write, see, path } = await setUp({
      wide: Buffer.from('\uFEFFa\r\nb\r\n', 'utf16le'),
      latin: Buffer.from('caf\u00e9 na\u00efve \u00fcber\n', 'latin1'),
    });
    see('wide');
    see('latin');
    await write('wide', 'a\nc\n');
    expect(readFileSync(path('wide'))).toEqual(Buffer.from('\uFEFFa\r\nc\r\n', 'utf16le'));
    await write('latin', 'd\u00e9j\u00e0\n');
    expect(readFileSync(path('latin'))).toEqual(Buffer.from('d\u00e9j\u00e0\n', 'latin1'));
  });
});

test.each([
  ['a directory', '.', 'x', 'target_is_directory'],
  ['a binary file', 'binary', 'x', 'edit_preparation_failure'],
  ['a placeholder', 'f', 'a\n// ... rest of code unchanged ...\n', 'edit_preparation_failure'],
  ['half of a surrogate pair', 'f', '\uDC00', 'edit_preparation_failure'],
  ['a character that the encoding lacks', 'latin', '中', 'edit_preparation_failure'],
])('%s is refused', async (_, name, content, type) => {
  const latin = Buffer.from('caf\u00e9 na\u00efve \u00fcber\n', 'latin1');
  const { write, see, root, read } = await setUp({ f: 'a\nb\n', binary: Buffer.from([1, 0, 2, 0, 0, 255]), latin });
  for (const file of ['f', 'binary', 'latin']) see(file);
  await expect(write(name, content)).rejects.toMatchObject({ type });
  expect([read('f'), readdirSync(root).sort()]).toEqual(['a\nb\n', ['binary', 'f', 'latin']]);
});

test('a placeholder that the file already contains is text', async () => {
  const { write, see, read } = await setUp({ f: '// ... existing code ...\na\n' });
  see('f');
  await write('f', '// ... existing code ...\nb\n');
  expect(read('f')).toBe('// ... existing code ...\nb\n');
});

test('the person may change the content, and the model learns what it became', async () => {
  const step = directCall();
  const { tool, see, path, read } = await setUp({ f: 'a\n' });
  see('f');
  const params = { file_path: path('f'), content: 'b\n' };
  expect(await tool.shouldConfirmExecute(params, signal, step)).toMatchObject({
    type: 'edit',
    title: 'Confirm WriteFile: f',
    fileDiff: '--- f\n+++ f\n@@ -1 +1 @@\n-a\n+b\n',
    newContent: 'b\n',
    rules: ['write_file(/**)'],
  });
  const changed = tool.applyChange(params, { type: 'content', content: 'b\nc\n' }, step);
  await tool.shouldConfirmExecute(changed, signal, step);
  const result = await tool.execute(changed, signal, step);
  expect(read('f')).toBe('b\nc\n');
  expect(result.llmContent).toContain(
    'The person changed your proposal before approving it; the file now contains:\n---\nb\nc\n',
  );
  expect(result.returnDisplay).toMatchObject({
    diffStat: { model_added_lines: 1, user_added_lines: 1, user_removed_lines: 0 },
  });
});

test('what was approved is what is written: a new file that appeared meanwhile is kept', async () => {
  const step = directCall();
  const { tool, path, read } = await setUp();
  const params = { file_path: path('f'), content: 'mine' };
  await tool.shouldConfirmExecute(params, signal, step);
  writeFileSync(path('f'), 'theirs');
  await expect(tool.execute(params, signal, step)).rejects.toMatchObject({ type: 'file_changed_since_read' });
  expect(read('f')).toBe('theirs');
});

// SF09
test('a byte order mark at the start of a file is not hidden text', async () => {
  const { tool, path, see } = await setUp({ f: '\ufeffa\n' });
  see('f');
  const question = await tool.shouldConfirmExecute({ file_path: path('f'), content: 'b\n' }, signal);
  expect(question).toMatchObject({ rules: ['write_file(/**)'] });
  expect(question).not.toHaveProperty('warnings');
  const params = { file_path: path('new'), content: '\ufeffa\n' };
  expect(await tool.shouldConfirmExecute(params, signal)).toMatchObject({ rules: ['write_file(/**)'] });
  expect((await tool.getTargets(params)).filter(({ why }) => why !== undefined)).toEqual([]);
});

// SF09
test('a byte order mark elsewhere, and other hidden characters, are named with their lines', async () => {
  const { tool, path } = await setUp();
  const params = { file_path: path('new'), content: 'a\nb\ufeff\n\u202ec\n' };
  expect(await tool.shouldConfirmExecute(params, signal)).toMatchObject({
    warnings: ['It contains invisible or control characters, spelled out here: U+FEFF in line 2, U+202E in line 3'],
  });
  const places = 'U+FEFF in line 2 of content, U+202E in line 3 of content';
  expect((await tool.getTargets(params)).at(-1)?.why).toBe(
    `it contains invisible or control characters: ${places}; where they are meant, write them as escape sequences`,
  );
});

// SF09
describe('the question about a change hides nothing of it', () => {
  test.each([
    ['line endings, which stay as they are', 'a\r\nb\r\n', 'a\nB\n', [' a', '-b', '+B'], 'a\r\nB\r\n'],
    ['mixed line endings', 'a\nb\n', 'a\r\nb\n', ['-a', '+a␍', ' b']],
    ['a byte order mark', '\ufeffa\n', 'b\n', ['-<BOM>a', '+<BOM>b'], '\ufeffb\n'],
    ['indentation', 'if x:\n\ty\n', 'if x:\n        y\n', [' if x:', '-\ty', '+        y']],
    ['blanks at the end of a line', 'a\n', 'a  \n', ['-a', '+a  ']],
    ['invisible characters', 'admin\n', 'ad\u200bmin\n', ['-admin', '+ad<U+200B>min']],
    ['the last line break', 'a\n', 'a', ['-a', '+a', '\\ No newline at end of file']],
    ['a file that is emptied', 'a\nb\n', '', ['-a', '-b']],
  ])('%s', async (_title, before, content, expected, after = content) => {
    const { tool, path, see, read, write } = await setUp({ f: before });
    see('f');
    const question = await tool.shouldConfirmExecute({ file_path: path('f'), content }, signal);
    expect(question).toMatchObject({ type: 'edit', filePath: path('f') });
    const diff = question.type === 'edit' ? question.fileDiff : '';
    expect(diff.split('\n').slice(3, -1)).toEqual(expected);
    await write('f', content);
    expect(read('f')).toBe(after);
  });

  test('a new file is called one, a link says where it leads, and the mode stays', async () => {
    const { tool, path, see, write } = await setUp({ 'real.sh': 'a\n' });
    const asks = (name: string) => tool.shouldConfirmExecute({ file_path: path(name), content: 'b\n' }, signal);
    expect(await asks('new')).toMatchObject({ fileDiff: '--- /dev/null\n+++ new\n@@ -0,0 +1 @@\n+b\n' });
    symlinkSync('real.sh', path('link.sh'));
    chmodSync(path('real.sh'), 0o751);
    see('real.sh');
    expect(await asks('link.sh')).toMatchObject({
      filePath: path('real.sh'),
      warnings: [`${path('link.sh')} leads to ${path('real.sh')}`],
    });
    await write('link.sh', 'b\n');
    expect(statSync(path('real.sh')).mode & 0o777).toBe(0o751);
  });

  test('a line break in a path adds no line to the question', async () => {
    const { tool, path } = await setUp();
    const question = await tool.shouldConfirmExecute({ file_path: path('a\n(asked because b)'), content: '' }, signal);
    expect([question.title, ...(question.warnings ?? [])].filter((line) => line.includes('\n'))).toEqual([]);
  });

  test('a change that is too large to show is marked, and offers no "always"', async () => {
    const { tool, path } = await setUp();
    const content = 'a line of text\n'.repeat(100_000);
    const question = await tool.shouldConfirmExecute({ file_path: path('f'), content }, signal);
    expect(question.warnings).toEqual(['The change is too large to be shown in full']);
    expect(question.rules).toBeUndefined();
  });
});
