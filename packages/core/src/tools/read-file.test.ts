import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { pdf } from '../../../../testing/pdf.js';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { directCall } from '../contract/tool-call.js';
import { contentHash, SeenFiles } from '../files/access/seen-files.js';
import { IgnoreRules } from '../files/ignore/ignore-rules.js';
import { Workspace } from '../files/workspace.js';
import { ReadFileTool } from './read-file.js';

const signal = new AbortController().signal;

async function reader(files: Record<string, string | Uint8Array>, limits?: { lines: number; chars: number }) {
  const root = tempDirectory(files);
  const seen = new SeenFiles();
  const tool = new ReadFileTool(await Workspace.open(root), seen, { rules: new IgnoreRules([root]) }, limits);
  const read = (name: string, range: { offset?: number; limit?: number; pages?: string } = {}) =>
    tool.execute({ absolute_path: join(root, name), ...range }, signal);
  return { root, seen, tool, read };
}

const lines = (count: number) => Array.from({ length: count }, (_, index) => `line ${index + 1}\n`).join('');

test('a small file comes back exactly as it is, with nothing to show', async () => {
  const text = '  trailing  \t\r\nmixed\nno final newline ';
  const { read, seen, root } = await reader({ 'a.txt': text });
  expect(await read('a.txt')).toEqual({ llmContent: text, returnDisplay: '' });
  expect(seen.knowledgeOf(join(root, 'a.txt'), contentHash(Buffer.from(text))) === 'all').toBe(true);
});

test('a range has a header with the total and a last line that says how to go on', async () => {
  const { read, seen, root } = await reader({ 'a.txt': lines(10) });
  expect(await read('a.txt', { offset: 5, limit: 3 })).toEqual({
    llmContent:
      'Showing lines 6-8 of 10 total lines.\n\n---\n\nline 6\nline 7\nline 8\n[More lines follow: continue with offset 8.]',
    returnDisplay: 'Read lines 6-8 of 10 from a.txt',
  });
  expect(seen.knowledgeOf(join(root, 'a.txt'), contentHash(Buffer.from(lines(10)))) === 'all').toBe(false);
});

test('a file read in parts counts as seen once the parts cover it', async () => {
  const { read, seen, root } = await reader({ 'a.txt': lines(10) });
  const isSeen = () => seen.knowledgeOf(join(root, 'a.txt'), contentHash(Buffer.from(lines(10)))) === 'all';
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

// RR08
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

test.each([
  ['readme.md', 'README.md'],
  ['indx.ts', 'index.ts'],
  ['my\\ file.txt', 'my file.txt'],
  ['Screenshot 3 PM.png', 'Screenshot 3\u202FPM.png'],
  ["it's.txt", 'it’s.txt'],
  ['café.txt', 'cafe\u0301.txt'],
])('a missing %s is nearly %s', async (wanted, existing) => {
  const { read, root } = await reader({
    [existing]: 'x',
    'other.txt': 'x',
    '.qwenignore': 'secret.txt',
    'secret.txt': '',
  });
  await expect(read(wanted)).rejects.toMatchObject({
    type: 'file_not_found',
    message: `${join(root, wanted)}: no such file. Did you mean ${join(root, existing)}?`,
  });
});

test('hidden files and places outside are not suggested', async () => {
  const step = directCall();
  const { read, tool } = await reader({ '.qwenignore': 'secret.txt', 'secret.txt': '' });
  await expect(read('secrets.txt')).rejects.toMatchObject({ message: expect.not.stringContaining('mean') });
  const params = { absolute_path: join(tempDirectory({ 'outside.txt': '' }), 'outsides.txt') };
  await tool.getTargets(params, step);
  await expect(tool.execute(params, signal, step)).rejects.toMatchObject({
    message: expect.not.stringContaining('mean'),
  });
});

test('a named pipe is refused at once', async () => {
  const { read, root } = await reader({});
  execFileSync('mkfifo', [join(root, 'pipe')]);
  await expect(Promise.all(Array.from({ length: 8 }, () => read('pipe')))).rejects.toMatchObject({
    type: 'target_not_regular_file',
  });
});

test('a path outside asks, and is read once it was judged', async () => {
  const step = directCall();
  const { tool } = await reader({});
  const outside = join(tempDirectory({ 'b.txt': 'outside' }), 'b.txt');
  await expect(tool.execute({ absolute_path: outside }, signal, step)).rejects.toMatchObject({
    type: 'path_not_in_workspace',
  });
  const params = { absolute_path: outside };
  expect(await tool.getTargets(params, step)).toEqual([{ type: 'path', access: 'read', path: outside, asks: true }]);
  expect(await tool.shouldConfirmExecute(params, undefined, step)).toEqual({
    type: 'info',
    title: 'Read outside the workspace?',
    prompt: outside,
    rules: [`read_file(/${outside})`],
  });
  expect((await tool.execute(params, signal, step)).llmContent).toBe('outside');
});

test('a link to the outside is judged by where it leads', async () => {
  const { tool, root } = await reader({ 'in.txt': 'inside' });
  const outside = tempDirectory({ 'b.txt': 'outside' });
  symlinkSync(outside, join(root, 'link'));
  const params = { absolute_path: join(root, 'link/b.txt') };
  expect(await tool.getTargets(params)).toMatchObject([{ path: join(outside, 'b.txt'), asks: true }]);
});

test('a file swapped after it was judged is not followed', async () => {
  const step = directCall();
  const { tool, root } = await reader({ 'dir/a.txt': 'inside' });
  const outside = tempDirectory({ 'a.txt': 'outside' });
  const params = { absolute_path: join(root, 'dir/a.txt') };
  await tool.getTargets(params, step);
  execFileSync('mv', [join(root, 'dir'), join(root, 'old')]);
  symlinkSync(outside, join(root, 'dir'));
  await expect(tool.execute(params, signal, step)).rejects.toMatchObject({ type: 'read_content_failure' });
});

test.each([
  ['relative.txt', /absolute_path must be an absolute path, not "relative.txt"; did you mean "\/.*\/relative.txt"\?$/],
  ['~/notes.txt', /absolute_path must be an absolute path, not "~\/notes.txt"$/],
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

// RR09
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

// RR07
test('binary files are explained, not shown', async () => {
  const { read, root } = await reader({});
  writeFileSync(join(root, 'a.bin'), Buffer.from([0, 1, 2, 3, 255, 254]));
  expect((await read('a.bin')).llmContent).toContain('binary');
});

const png = (width: number, height: number) => {
  const header = Buffer.from('89504e470d0a1a0a0000000d49484452000000000000000008060000001f15c489', 'hex');
  header.writeUInt32BE(width, 16);
  header.writeUInt32BE(height, 20);
  return header;
};

test('an image, a sound and a PDF come as what they are by their bytes, not by their names', async () => {
  const wav = Buffer.from('RIFF\x24\0\0\0WAVEfmt ', 'latin1');
  const { read } = await reader({ 'a.txt': png(10, 20), 'b.png': wav, c: '%PDF-1.4\n' });
  expect(await read('a.txt')).toEqual({
    llmContent: { inlineData: { mimeType: 'image/png', data: png(10, 20).toString('base64') } },
    returnDisplay: 'Read image file: a.txt',
  });
  expect((await read('b.png')).llmContent).toMatchObject({ inlineData: { mimeType: 'audio/wav' } });
  expect((await read('c')).llmContent).toMatchObject({ inlineData: { mimeType: 'application/pdf' } });
});

// RR15, SJ06
test.each([
  ['50,000 x 50,000 pixels in its header', png(50_000, 50_000), /50000 x 50000 pixels are too many/],
  ['no pixels', png(0, 0), /its header is damaged/],
  ['a cut header', png(1, 1).subarray(0, 18), /its header is damaged/],
  ['a signature only', png(1, 1).subarray(0, 8), /its header is damaged/],
  [
    'a kind that models do not take',
    Buffer.from('424d3600000000000000360000002800000001000000', 'hex'),
    /convert it first/,
  ],
  ['eleven megabytes', Buffer.concat([png(10, 10), Buffer.alloc(11_000_000)]), /too large to be shown/],
])('an image with %s is described, not sent', async (_, bytes, expected) => {
  const { read } = await reader({ 'a.png': bytes });
  expect((await read('a.png')).llmContent).toMatch(expected);
});

// SJ06
test('a document that would swell is judged by its header and its size, and not decoded', async () => {
  const bomb = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), Buffer.alloc(1000)]);
  const pages = pdf(Array.from({ length: 100_000 }, () => 'x'));
  const { read } = await reader({ 'a.docx': bomb, 'b.pdf': pages });
  expect((await read('a.docx')).llmContent).toMatch(/zip archive or document/);
  expect((await read('b.pdf')).llmContent).toMatch(/too large to be shown/);
});

test('an SVG is text', async () => {
  const { read } = await reader({ 'a.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>' });
  expect((await read('a.svg')).llmContent).toBe('<svg xmlns="http://www.w3.org/2000/svg"/>');
});

test('a notebook is rendered, lines of it are JSON', async () => {
  const json = JSON.stringify({ cells: [{ cell_type: 'code', source: 'print(1)' }] });
  const { read } = await reader({ 'a.ipynb': json, 'broken.ipynb': '{' });
  expect((await read('a.ipynb')).llmContent).toEqual(['[1] code cell\nprint(1)\n\n']);
  expect((await read('a.ipynb', { offset: 0, limit: 5 })).llmContent).toBe(json);
  expect((await read('broken.ipynb')).llmContent).toBe('{');
});

test('pages of something that is not a PDF are refused', async () => {
  const { read, tool } = await reader({ 'a.txt': 'text' });
  await expect(read('a.txt', { pages: '1' })).rejects.toMatchObject({ type: 'invalid_tool_params' });
  expect(tool.validateToolParams({ absolute_path: '/a', pages: '1-' })).toContain('pages');
});

test('a text with a line of binary data is shown without it and does not count as seen', async () => {
  const text = `${'text\n'.repeat(2000)}a\0b\n`;
  const { read, seen, root } = await reader({ 'a.txt': text }, { lines: 5000, chars: 25_000 });
  const { llmContent } = await read('a.txt');
  expect(llmContent).toContain('Showing lines 1-2001 of 2001 total lines.');
  expect(llmContent).toContain('[binary data, not shown]');
  expect(seen.knowledgeOf(join(root, 'a.txt'), contentHash(Buffer.from(text))) === 'all').toBe(false);
});

test('what .qwenignore names is not read, what .gitignore names is', async () => {
  const { read, root } = await reader({
    '.git/HEAD': '',
    '.gitignore': 'git.txt\n',
    '.qwenignore': 'agent.txt\nhidden/\nlinked.txt\n',
    'agent.txt': 'x',
    'hidden/deep/a.txt': 'x',
    'git.txt': 'git',
  });
  symlinkSync('git.txt', join(root, 'linked.txt'));
  await expect(read('linked.txt')).rejects.toMatchObject({ type: 'permission_denied' });
  await expect(read('agent.txt')).rejects.toMatchObject({ type: 'permission_denied' });
  await expect(read('hidden/deep/a.txt')).rejects.toMatchObject({ type: 'permission_denied' });
  expect((await read('git.txt')).llmContent).toBe('git');
});

test('a secret is read only after a person was asked, and no rule is offered for it', async () => {
  const step = directCall();
  const { tool, root } = await reader({ '.ssh/id_ed25519': 'key' });
  const params = { absolute_path: join(root, '.ssh/id_ed25519') };
  await expect(tool.execute({ ...params }, signal, step)).rejects.toMatchObject({ type: 'path_not_in_workspace' });
  expect(await tool.getTargets(params, step)).toMatchObject([{ asks: true, guarded: expect.any(String) }]);
  expect(await tool.shouldConfirmExecute(params, undefined, step)).not.toHaveProperty('rules');
  expect((await tool.execute(params, signal, step)).llmContent).toBe('key');
});

// RR13 RR14
test.skipIf(process.platform !== 'linux')('odd names are read by the form in which they are listed', async () => {
  const { read, root } = await reader({});
  writeFileSync(Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0x66, 0xff, 0x0a])]), 'odd');
  for (const name of ['-rf', 'trailing ', '"quoted"', '👍'.repeat(63), 'א\u05D1.txt']) {
    writeFileSync(join(root, name), name);
    expect((await read(name)).llmContent).toBe(name);
  }
  expect((await read('f\\xFF\\x0A')).llmContent).toBe('odd');
});

test('what the model sees of the tool', async () => {
  const { tool } = await reader({});
  const { name, description, parameterSchema } = tool;
  expect({ name, description, parameterSchema }).toMatchSnapshot();
});

test('an aborted call reads nothing', async () => {
  const { tool, root } = await reader({ 'a.txt': 'x' });
  await expect(tool.execute({ absolute_path: join(root, 'a.txt') }, AbortSignal.abort())).rejects.toMatchObject({
    name: 'AbortError',
  });
});

// RR11
test.skipIf(process.geteuid?.() !== 0)('what the operating system denies is denied in words', async () => {
  const { read, root } = await reader({ 'a.txt': 'x', 'closed/b.txt': 'x' });
  execFileSync('chmod', ['755', root]);
  execFileSync('chmod', ['000', join(root, 'a.txt'), join(root, 'closed')]);
  // Root may read everything, so become somebody else for a moment.
  process.seteuid?.(65534);
  onTestFinished(() => process.seteuid?.(0));
  await expect(read('a.txt')).rejects.toMatchObject({ type: 'permission_denied' });
  await expect(read('closed/b.txt')).rejects.toMatchObject({ type: 'permission_denied' });
});
