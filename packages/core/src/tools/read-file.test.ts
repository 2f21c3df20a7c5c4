import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { contentHash, SeenFiles } from '../files/seen-files.js';
import { Workspace } from '../files/workspace.js';
import { ReadFileTool } from './read-file.js';

const signal = new AbortController().signal;

async function reader(files: Record<string, string | Uint8Array>, limits?: { lines: number; chars: number }) {
  const root = tempDirectory(files);
  const seen = new SeenFiles();
  const tool = new ReadFileTool(await Workspace.open(root), seen, limits);
  const read = (name: string, range: { offset?: number; limit?: number; pages?: string } = {}) =>
    tool.execute({ absolute_path: join(root, name), ...range }, signal);
  return { root, seen, tool, read };
}

const lines = (count: number) => Array.from({ length: count }, (_, index) => `line ${index + 1}\n`).join('');

test('a small file comes back exactly as it is, with nothing to show', async () => {
  const text = '  trailing  \t\r\nmixed\nno final newline ';
  const { read, seen, root } = await reader({ 'a.txt': text });
  expect(await read('a.txt')).toEqual({ llmContent: text, returnDisplay: '' });
  expect(seen.has(join(root, 'a.txt'), contentHash(Buffer.from(text)))).toBe(true);
});

test('a range has a header with the total and a last line that says how to go on', async () => {
  const { read, seen, root } = await reader({ 'a.txt': lines(10) });
  expect(await read('a.txt', { offset: 5, limit: 3 })).toEqual({
    llmContent:
      'Showing lines 6-8 of 10 total lines.\n\n---\n\nline 6\nline 7\nline 8\n[More lines follow: continue with offset 8.]',
    returnDisplay: 'Read lines 6-8 of 10 from a.txt',
  });
  expect(seen.has(join(root, 'a.txt'), contentHash(Buffer.from(lines(10))))).toBe(false);
});

test('a file read in parts counts as seen once the parts cover it', async () => {
  const { read, seen, root } = await reader({ 'a.txt': lines(10) });
  const isSeen = () => seen.has(join(root, 'a.txt'), contentHash(Buffer.from(lines(10))));
  await read('a.txt', { limit: 6 });
  expect(isSeen()).toBe(false);
  await read('a.txt', { offset: 6 });
  expect(isSeen()).toBe(true);
});

test('the last range ends without a hint', async () => {
  const { read } = await reader({ 'a.txt': lines(10) });
  const { llmContent } = await read('a.txt', { offset: 9 });
  expect(llmContent).toBe('Showing lines 10-10 of 10 total lines.\n\n---\n\nline 10\n');
});

test('an offset past the end says how many lines there are', async () => {
  const { read } = await reader({ 'a.txt': lines(10) });
  await expect(read('a.txt', { offset: 10 })).rejects.toMatchObject({
    type: 'invalid_tool_params',
    message: expect.stringContaining('has 10 lines'),
  });
});

test('a line longer than the budget is cut and marked', async () => {
  const { read } = await reader({ 'a.txt': 'x'.repeat(5000) }, { lines: 1000, chars: 2500 });
  const result = await read('a.txt');
  expect(result.llmContent).toContain(`${'x'.repeat(2500)}… [line cut after 2500 characters]`);
  expect(result.returnDisplay).toMatch(/\(truncated\)$/);
});

test('an empty file is empty, not an error', async () => {
  const { read } = await reader({ 'a.txt': '', 'bom.txt': '\uFEFF', 'newline.txt': '\n' });
  expect((await read('a.txt')).llmContent).toBe('');
  expect((await read('bom.txt')).llmContent).toBe('');
  expect((await read('newline.txt')).llmContent).toBe('\n');
});

test('a directory is refused with a hint', async () => {
  const { read, root } = await reader({});
  mkdirSync(join(root, 'dir'));
  await expect(read('dir')).rejects.toMatchObject({ type: 'target_is_directory' });
});

test('a missing file is not found', async () => {
  const { read } = await reader({});
  await expect(read('nope')).rejects.toMatchObject({ type: 'file_not_found' });
});

test('a named pipe is refused at once', async () => {
  const { read, root } = await reader({});
  execFileSync('mkfifo', [join(root, 'pipe')]);
  await expect(Promise.all(Array.from({ length: 8 }, () => read('pipe')))).rejects.toMatchObject({
    type: 'target_not_regular_file',
  });
});

test('a path outside asks, and is read once it was judged', async () => {
  const { tool } = await reader({});
  const outside = join(tempDirectory({ 'b.txt': 'outside' }), 'b.txt');
  await expect(tool.execute({ absolute_path: outside }, signal)).rejects.toMatchObject({
    type: 'path_not_in_workspace',
  });
  const params = { absolute_path: outside };
  expect(await tool.getTargets(params)).toEqual([{ type: 'path', access: 'read', path: outside, asks: true }]);
  expect(await tool.shouldConfirmExecute(params)).toEqual({
    type: 'info',
    title: 'Read outside the workspace?',
    prompt: outside,
    rules: [`read_file(/${outside})`],
  });
  expect((await tool.execute(params, signal)).llmContent).toBe('outside');
});

test('a link to the outside is judged by where it leads', async () => {
  const { tool, root } = await reader({ 'in.txt': 'inside' });
  const outside = tempDirectory({ 'b.txt': 'outside' });
  symlinkSync(outside, join(root, 'link'));
  const params = { absolute_path: join(root, 'link/b.txt') };
  expect(await tool.getTargets(params)).toMatchObject([{ path: join(outside, 'b.txt'), asks: true }]);
});

test('a file swapped after it was judged is not followed', async () => {
  const { tool, root } = await reader({ 'dir/a.txt': 'inside' });
  const outside = tempDirectory({ 'a.txt': 'outside' });
  const params = { absolute_path: join(root, 'dir/a.txt') };
  await tool.getTargets(params);
  execFileSync('mv', [join(root, 'dir'), join(root, 'old')]);
  symlinkSync(outside, join(root, 'dir'));
  await expect(tool.execute(params, signal)).rejects.toMatchObject({ type: 'read_content_failure' });
});

test.each([
  ['relative.txt', /absolute_path must be an absolute path/],
  ['', /absolute_path must be an absolute path/],
  ['~/x', /absolute/],
  ['file:///etc/hostname', /absolute/],
  ['/a\0b', /NUL/],
  ['/a\ud800b', /surrogate/],
  [`/${'a'.repeat(1_000_000)}`, /too long/],
  [42, /absolute_path/],
  [null, /absolute_path/],
  [['/a'], /absolute_path/],
  [{ a: 1 }, /absolute_path/],
])('absolute_path %j is refused in words', async (path, expected) => {
  const { tool } = await reader({});
  expect(tool.validateToolParams({ absolute_path: path })).toMatch(expected);
});

test.each([
  ['offset', -1],
  ['offset', 1.5],
  ['offset', Number.NaN],
  ['offset', 1e308],
  ['offset', 'three'],
  ['limit', 0],
  ['limit', 1e308],
  ['limit', null],
])('%s %j is refused by name', async (field, value) => {
  const { tool } = await reader({});
  expect(tool.validateToolParams({ absolute_path: '/a', [field]: value })).toContain(field);
});

test('binary files are explained, not shown', async () => {
  const { read, root } = await reader({});
  writeFileSync(join(root, 'a.bin'), Buffer.from([0, 1, 2, 3, 255, 254]));
  expect((await read('a.bin')).llmContent).toContain('binary');
});
