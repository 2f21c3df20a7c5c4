import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { textOf } from '../contract/content.js';
import { directCall } from '../contract/tool-call.js';
import { contentHash, SeenFiles } from '../files/access/seen-files.js';
import { IgnoreRules } from '../files/ignore/ignore-rules.js';
import { Workspace } from '../files/workspace.js';
import { ReadManyFilesTool } from './read-many-files.js';

const signal = new AbortController().signal;
type Params = Parameters<ReadManyFilesTool['execute']>[0];

async function reader(
  files: Record<string, string | Uint8Array>,
  { maxChars, canRead }: { maxChars?: number; canRead?: (path: string) => boolean } = {},
) {
  const root = tempDirectory(files);
  const workspace = await Workspace.open(root);
  const seen = new SeenFiles();
  const tool = new ReadManyFilesTool(workspace, seen, { rules: new IgnoreRules([root]), canRead }, maxChars);
  const read = (params: Params) => tool.execute(params, signal);
  /** The files shown, by name. */
  const names = async (params: Params) =>
    [...textOf((await read(params)).llmContent).matchAll(/^--- (\/.*) ---$/gm)].map(([, path]) =>
      path?.slice(root.length + 1),
    );
  return { root, tool, seen, read, names };
}

test('files come sorted, each under its name, and count as seen', async () => {
  const { read, root, seen } = await reader({ 'b.txt': 'bee\n', 'a.txt': 'ay' });
  const { llmContent, returnDisplay } = await read({ paths: ['b.txt', 'a.txt', './b.txt'] });
  expect(llmContent).toEqual([
    `--- ${root}/a.txt ---\n\nay\n\n`,
    `--- ${root}/b.txt ---\n\nbee\n\n\n`,
    '--- End of content ---',
  ]);
  expect(returnDisplay).toBe('Read 2 files\n- a.txt\n- b.txt\n');
  expect(seen.knowledgeOf(join(root, 'a.txt'), contentHash(Buffer.from('ay'))) === 'all').toBe(true);
});

test('globs, directories and names with special characters', async () => {
  const { names } = await reader({
    'src/a.ts': '',
    'src/deep/b.TS': '',
    'src/c.js': '',
    'src/.hidden.ts': '',
    'app/[id]/page(1).tsx': '',
    'app/[id]/{x}.tsx': '',
  });
  expect(await names({ paths: ['src/**/*.ts'] })).toEqual(['src/.hidden.ts', 'src/a.ts', 'src/deep/b.TS']);
  expect(await names({ paths: ['src'] })).toEqual(['src/.hidden.ts', 'src/a.ts', 'src/c.js', 'src/deep/b.TS']);
  expect(await names({ paths: ['app/[id]/page(1).tsx', 'app/[id]/{x}.tsx'] })).toEqual([
    'app/[id]/page(1).tsx',
    'app/[id]/{x}.tsx',
  ]);
  expect(await names({ paths: ['src/*.js'], include: ['src/a.*'], exclude: ['c.*'] })).toEqual(['src/a.ts']);
});

test('default excludes apply to globs, not to names, and can be turned off', async () => {
  const { names } = await reader({ 'node_modules/x/a.js': '', 'dist/b.js': '', '.env': '', 'c.js': '' });
  expect(await names({ paths: ['**/*'] })).toEqual(['c.js']);
  expect(await names({ paths: ['dist/b.js', '.env'] })).toEqual(['.env', 'dist/b.js']);
  expect(await names({ paths: ['**/*'], useDefaultExcludes: false })).toEqual([
    '.env',
    'c.js',
    'dist/b.js',
    'node_modules/x/a.js',
  ]);
});

test('ignore files hide from globs; the agent’s own hide even names', async () => {
  const { names, read } = await reader({
    '.git/HEAD': '',
    '.gitignore': 'git.txt\n',
    '.qwenignore': 'agent.txt\n',
    'git.txt': '',
    'agent.txt': '',
    'open.txt': '',
  });
  expect(await names({ paths: ['*.txt'] })).toEqual(['open.txt']);
  expect(await names({ paths: ['git.txt', 'agent.txt'] })).toEqual(['git.txt']);
  expect(textOf((await read({ paths: ['agent.txt'] })).llmContent)).toContain('hidden by .qwenignore');
  const file_filtering_options = { respect_git_ignore: false };
  expect(await names({ paths: ['*.txt'], file_filtering_options })).toEqual(['git.txt', 'open.txt']);
});

test('what permission rules hide is not there', async () => {
  const { read, names } = await reader({ 'a.txt': '', 'b.txt': '' }, { canRead: (path) => !path.endsWith('b.txt') });
  expect(await names({ paths: ['*.txt'] })).toEqual(['a.txt']);
  expect(JSON.stringify(await read({ paths: ['*.txt'] }))).not.toContain('b.txt');
});

// RR16
test('one bad file does not fail the rest', async () => {
  const { read, root, names } = await reader({ 'a.txt': 'a', 'b.bin': Buffer.from([0, 1, 2]) });
  execFileSync('mkfifo', [join(root, 'pipe')]);
  symlinkSync('nowhere', join(root, 'dangling'));
  symlinkSync('loop', join(root, 'loop'));
  const paths = ['a.txt', 'b.bin', 'pipe', 'dangling', 'loop', 'missing.txt', 'x\0y', 'a.txt/child', 'none/*.ts'];
  expect(await names({ paths })).toEqual(['a.txt']);
  const text = textOf((await read({ paths })).llmContent);
  for (const bad of ['b.bin', 'pipe', 'nowhere', 'loop', 'missing.txt', 'x', 'child']) expect(text).toContain(bad);
});

test('a result without files says so', async () => {
  const { read } = await reader({});
  expect((await read({ paths: ['*.none'] })).llmContent).toBe('No file was read.');
});

test('images are shown when they are asked for by name or kind', async () => {
  const png = Buffer.from('89504e470d0a1a0a0000000d4948445200000001000000010806000000', 'hex');
  const { read, root } = await reader({ 'a.png': png, 'b.txt': 'text' });
  const image = { inlineData: { mimeType: 'image/png', data: png.toString('base64') } };
  expect((await read({ paths: ['*.png'] })).llmContent).toEqual([
    `--- ${root}/a.png ---\n\n`,
    image,
    '--- End of content ---',
  ]);
  expect((await read({ paths: ['a.png'] })).llmContent).toContainEqual(image);
  expect((await read({ paths: ['*'] })).llmContent).not.toContainEqual(image);
});

test('the length is shared: small files whole, large ones in part, the last not at all', async () => {
  const { read } = await reader(
    { 'a.txt': 'line\n'.repeat(5000), 'b.txt': 'small\n', 'c.txt': 'line\n'.repeat(5000) },
    { maxChars: 3000 },
  );
  const { llmContent } = await read({ paths: ['*.txt'] });
  const [a, b, c] = Array.isArray(llmContent) ? llmContent : [];
  expect(b).toMatch(/\n\nsmall\n\n\n$/);
  expect(a).toMatch(/\[lines 1-299 of 5000; read_file shows the rest\]\n/);
  expect(textOf(c ?? '')).toHaveLength(textOf(a ?? '').length);
});

const many = process.env['LATHE_LONG'] === '1' ? 10_050 : 1500;

// RR16
test('many files, some of them unreadable: capped, in order, and soon aborted', { timeout: 600_000 }, async () => {
  const { read, root, names, tool } = await reader({}, { maxChars: many * 5 });
  mkdirSync(join(root, 'many'));
  for (let count = 0; count < many; count++) writeFileSync(join(root, 'many', `${count}.txt`), `text ${count}\n`);
  unlinkSync(join(root, 'many/0.txt'));
  execFileSync('mkfifo', [join(root, 'many/0.txt')]);
  const params = { paths: ['many/*.txt', 'many/1*.txt', 'many/1.txt'] };
  const shown = await names(params);
  expect(shown).toEqual(shown.toSorted());
  expect(new Set(shown).size).toBe(shown.length);
  expect(textOf((await read(params)).llmContent)).toMatch(/\d+ more files: there is no room for them/);
  const stop = new AbortController();
  const reading = tool.execute(params, stop.signal);
  stop.abort();
  await expect(reading).rejects.toMatchObject({ name: 'AbortError' });
});

test('a path or a glob outside asks; a link that leads outside is left out', async () => {
  const step = directCall();
  const outside = tempDirectory({ 'x.txt': 'outside' });
  const { tool, root, names, read } = await reader({ 'a.txt': 'inside' });
  symlinkSync(join(outside, 'x.txt'), join(root, 'link.txt'));
  expect(await names({ paths: ['*.txt'] })).toEqual(['a.txt']);
  expect(textOf((await read({ paths: ['*.txt'] })).llmContent)).toContain('it leads outside the workspace');
  for (const path of ['link.txt', `${outside}/*.txt`, `../${outside.split('/').at(-1)}/x.txt`]) {
    const params = { paths: ['a.txt', path] };
    expect(JSON.stringify(await read({ ...params }))).not.toContain('outside\\n');
    expect(await tool.getTargets(params, step)).toMatchObject([{ asks: false }, { asks: true }]);
    expect(await tool.shouldConfirmExecute(params, undefined, step)).toMatchObject({ type: 'info' });
    expect(textOf((await tool.execute(params, signal, step)).llmContent)).toContain('---\n\noutside\n');
  }
});

test('secrets are not read because a glob meets them', async () => {
  const { names } = await reader({ '.ssh/id_rsa': 'key', '.ssh/config': 'Host x' });
  expect(await names({ paths: ['**/*'] })).toEqual(['.ssh/config']);
});

test.each([
  [{}, /paths/],
  [{ paths: [] }, /paths/],
  [{ paths: [''] }, /paths/],
  [{ paths: [7] }, /paths/],
  [{ paths: null }, /paths/],
  [{ paths: ['a'], exclude: 'b' }, /exclude/],
])('%j is refused', async (params, expected) => {
  const { tool } = await reader({});
  expect(tool.validateToolParams(params)).toMatch(expected);
});

test('a pattern that explodes is refused, the rest is read', async () => {
  const { names } = await reader({ 'a.txt': '' });
  expect(await names({ paths: ['a.txt', '{a,b}'.repeat(30), `*${'a'.repeat(100_000)}`] })).toEqual(['a.txt']);
});

test('what the model sees of the tool', async () => {
  const { tool } = await reader({});
  const { name, description, parameterSchema } = tool;
  expect({ name, description, parameterSchema }).toMatchSnapshot();
});
