import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import type { Approver } from '../contract/call.js';
import { LatheHome } from '../files/lathe-home.js';
import { Consent } from '../policy/consent.js';
import { denyAll } from '../scheduler/approve.js';
import { ConsentGate } from '../scheduler/ask-consent.js';
import { NotTrusted } from '../tools/tool-registry.js';
import { toResult } from '../tools/tools.js';
import { ToolFiles, toolFileNames } from './tool-files.js';

const never = new AbortController().signal;

const defined = (name: string, answer = "'ok'") =>
  `defineTool({ name: '${name}', description: 'x', parameterSchema: { type: 'object' }, execute: () => ${answer} })`;
const imported = "import { defineTool } from '@lathe/core';\n";

function toolFiles(files: Record<string, string>, gate?: ConsentGate) {
  const folder = tempDirectory(files);
  return {
    folder,
    source: new ToolFiles({ label: 'files', folder, packagesIn: folder, isTrusted: true, ...(gate && { gate }) }),
  };
}

async function loaded(files: Record<string, string>) {
  const { source } = toolFiles(files);
  const tools = await source.discover(never);
  return { tools, names: tools.map(({ name }) => name), rejections: source.rejections() };
}

test('a file exports a tool by default or by name, several of them, a list, or instances of a class', async () => {
  const { names, rejections } = await loaded({
    'a.js': `${imported}export default ${defined('one')};`,
    'b.mjs': `${imported}export const x = ${defined('two')};\nexport const y = ${defined('three')};\nexport default x;`,
    'c.ts': `${imported}export default [${defined('four')}, ${defined('five')}];`,
    'd.ts': `import { BaseTool, type ToolResult } from '@lathe/core';
      class Six extends BaseTool<{ n?: number }> {
        constructor(private readonly greeting: string) {
          super({ name: 'six', description: 'x', parameterSchema: { type: 'object' } });
        }
        async execute({ n = 1 }: { n?: number }): Promise<string | ToolResult> {
          return this.greeting satisfies string + n!;
        }
      }
      export const six = new Six('hi');`,
  });
  expect([names, rejections]).toEqual([['one', 'two', 'three', 'four', 'five', 'six'], []]);
});

test('a tool may use modules of Node, packages, and other files of its folder', async () => {
  const { tools, rejections } = await loaded({
    'a.ts': `${imported}import { basename } from 'node:path';\nimport parts, { join } from 'parts';
      import { shout, type Loud } from './_shout.js';
      const loud: Loud = shout(join(basename('/a/b'), parts));
      export default ${defined('a', 'loud')};`,
    '_shout.ts': 'export type Loud = string;\nexport const shout = (text: string): Loud => text.toUpperCase();',
    'node_modules/parts/package.json': '{ "type": "module", "exports": "./index.js" }',
    'node_modules/parts/index.js': "export default 'c';\nexport const join = (a, b) => a + b;",
  });
  expect(rejections).toEqual([]);
  expect(toResult((await tools[0]?.execute({} as never, never)) ?? '').llmContent).toBe('BC');
});

test.each([
  ['is not a program', 'export default {', /Unexpected token|a\.ts/],
  ['fails, by its line', '\n\nthrow new Error("no");', /^no \(line 3\)$/],
  ['throws what has no text', 'throw Object.create(null);', /Object/],
  ['exports no tool', 'export const x = 1;', /exports no tool; write: export default defineTool/],
  [
    'exports a class instead of an instance',
    `${imported.replace('defineTool', 'BaseTool')}export class X extends BaseTool {}`,
    /exports no tool; write: export default new X\(\), an instance/,
  ],
  [
    'uses a part of the library that is not for tools',
    "import { createLathe } from '@lathe/core';\ncreateLathe();",
    /^tool files get BaseTool, .* from @lathe\/core, not createLathe \(line 2\)$/,
  ],
  [
    'misspells a kind',
    `${imported}export default defineTool({ name: 'a', description: '', kind: 'exec', parameterSchema: {} });`,
    /The tool "a" has the kind "exec"; it must be one of read, /,
  ],
  ['has a tool without a name', `${imported}export default defineTool({});`, /^A tool needs a name \(line 2\)$/],
  [
    'misspells the schema',
    `${imported}export default defineTool({ name: 'a', description: 'x', parameters: {}, execute: () => '' });`,
    /The tool "a" needs a parameterSchema/,
  ],
  [
    'has a tool that does nothing',
    `${imported}export default defineTool({ name: 'a', description: 'x', parameterSchema: {} });`,
    /The tool "a" has no execute function/,
  ],
  ['imports what is outside its folder', "import '../x.js';", /cannot import \.\.\/x\.js: only files of/],
  [
    'imports a package that is missing',
    "import '@no/such/part';",
    /^cannot import @no\/such\/part: install it in \S+, with: npm install --prefix \S+ @no\/such \(line 1\)$/,
  ],
  ['takes a name of a server', `${imported}export default ${defined('a__b')};`, /belong to MCP servers/],
])('a file that %s is named, and the others stay', async (_, text, reason) => {
  const { names, rejections } = await loaded({ 'a.ts': text, 'b.ts': `${imported}export default ${defined('b')};` });
  expect(names).toEqual(['b']);
  expect(rejections).toEqual([{ source: 'files', name: 'a.ts', reason: expect.stringMatching(reason) }]);
});

test.each(['undefined', '3', '({ text: 1 })', '[1]'])('a tool that returns %s says what to return', async (value) => {
  const { tools } = await loaded({ 'a.ts': `${imported}export default ${defined('a', value)};` });
  await expect(tools[0]?.execute({} as never, never)).rejects.toThrow(
    'instead of a text or { llmContent, returnDisplay }',
  );
});

test('packages come only from the folder that is protected with the files', async () => {
  const root = tempDirectory({
    '.lathe/tools/a.ts': `${imported}import inside from 'inside';\nexport default ${defined('a', 'inside')};`,
    '.lathe/tools/b.ts': `${imported}import outside from 'outside';\nexport default ${defined('b', 'outside')};`,
    '.lathe/node_modules/inside/index.js': "module.exports = 'in';",
    'node_modules/outside/index.js': "module.exports = 'out';",
  });
  const packagesIn = join(root, '.lathe');
  const source = new ToolFiles({ label: 'files', folder: join(packagesIn, 'tools'), packagesIn, isTrusted: true });
  expect((await source.discover(never)).map(({ name }) => name)).toEqual(['a']);
  expect(source.rejections()).toMatchObject([
    { name: 'b.ts', reason: expect.stringContaining(`cannot import outside: install it in ${packagesIn}`) },
  ]);
});

test('files beyond the limit are named', async () => {
  const files = Array.from({ length: 202 }, (_, n) => [`f${n}.js`, `${imported}export default ${defined(`t${n}`)};`]);
  const { names, rejections } = await loaded(Object.fromEntries(files));
  expect([names.length, rejections]).toEqual([
    200,
    [{ source: 'files', name: '2 files', reason: expect.stringContaining('more than 200 files') }],
  ]);
});

test('tests, declarations and folders are not tool files', () => {
  const folder = tempDirectory({
    'a.ts': '',
    'a.test.ts': '',
    'a.test.mjs': '',
    'a.d.ts': '',
    'b/c.ts': '',
    'x.md': '',
  });
  expect([toolFileNames(folder), toolFileNames(join(folder, 'none'))]).toEqual([['a.ts'], []]);
});

test('a change counts at the next discovery, and what is unchanged stays the same object', async () => {
  const { folder, source } = toolFiles({ 'a.ts': `${imported}export default ${defined('a')};` });
  const before = await source.discover(never);
  expect(await source.discover(never)).toBe(before);
  writeFileSync(join(folder, 'a.ts'), `${imported}export default ${defined('b')};`);
  expect((await source.discover(never)).map(({ name }) => name)).toEqual(['b']);
  rmSync(join(folder, 'a.ts'));
  expect(await source.discover(never)).toEqual([]);
});

test('nothing runs in a folder that is not trusted', async () => {
  const folder = tempDirectory({ 'a.ts': 'globalThis.hasRun = true;' });
  const source = new ToolFiles({ label: 'files', folder, isTrusted: false });
  await expect(source.discover(never)).rejects.toThrow(NotTrusted);
  expect('hasRun' in globalThis).toBe(false);
  const empty = new ToolFiles({ label: 'files', folder: tempDirectory(), isTrusted: false });
  expect(await empty.discover(never)).toEqual([]);
});

// SH01
test('no file runs before the user approved exactly these files', async () => {
  const consent = new Consent(new LatheHome(tempDirectory()));
  const text = `${imported}export default ${defined('a')};`;
  const { folder } = toolFiles({ 'a.ts': text, '_b.ts': '' });
  const withApprover = (approver: Approver) =>
    new ToolFiles({ label: 'files', folder, isTrusted: true, gate: new ConsentGate(consent, approver) });
  await expect(withApprover(denyAll).discover(never)).rejects.toThrow('lathe trust');
  const asked: unknown[] = [];
  const agree: Approver = {
    decide: async ({ confirmation, isRemembered }) => {
      expect(isRemembered).toBe(true);
      asked.push(confirmation);
      return { outcome: 'once' };
    },
  };
  expect(await withApprover(agree).discover(never)).toHaveLength(1);
  const prompt = `${join(folder, '_b.ts')}\n\n\n\n${join(folder, 'a.ts')}\n\n${text}`;
  expect(asked).toEqual([expect.objectContaining({ type: 'info', prompt })]);
  expect(await withApprover(denyAll).discover(never)).toHaveLength(1);
  writeFileSync(join(folder, '_b.ts'), ' ');
  await expect(withApprover(denyAll).discover(never)).rejects.toThrow('lathe trust');
});

test.each<[string, (path: string) => void, RegExp]>([
  ['a folder', (path) => mkdirSync(path), /not a regular file/],
  ['a device', (path) => symlinkSync('/dev/zero', path), /not a regular file/],
  ['too large', (path) => writeFileSync(path, `//${'x'.repeat(2_000_000)}`), /larger than 1048576 bytes/],
  ['no text', (path) => writeFileSync(path, Buffer.from([0xff, 0xfe, 0])), /not UTF-8/],
  ['a link to nothing', (path) => symlinkSync('/no/such/file', path), /does not exist/],
])('a file that is %s is named, and the others stay', async (_title, make, reason) => {
  const { folder, source } = toolFiles({ 'b.ts': `${imported}export default ${defined('b')};` });
  make(join(folder, 'a.ts'));
  expect(source.consentRequests()).toMatchObject([{ kind: 'tool-files' }]);
  expect((await source.discover(never)).map(({ name }) => name)).toEqual(['b']);
  expect(source.rejections()).toEqual([{ source: 'files', name: 'a.ts', reason: expect.stringMatching(reason) }]);
});

test('a file that does not end is stopped and named, and the others stay', async () => {
  const { names, rejections } = await loaded({
    'a.ts': 'for (;;) {}',
    'b.ts': `${imported}export default ${defined('b')};`,
  });
  expect([names, rejections]).toEqual([
    ['b'],
    [{ source: 'files', name: 'a.ts', reason: expect.stringContaining('did not finish loading within 5 s') }],
  ]);
});

test('a file may export its tool as CommonJS does', async () => {
  const start = "const { defineTool } = require('@lathe/core');\n";
  const { names, rejections } = await loaded({
    'a.js': `${start}module.exports = ${defined('a')};`,
    'b.js': `${start}module.exports = [${defined('b')}];`,
  });
  expect([names, rejections]).toEqual([['a', 'b'], []]);
});
