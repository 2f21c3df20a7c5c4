import { mkdirSync, renameSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { languageWorld } from '../../../../testing/language-world.js';
import { isLong } from '../../../../testing/long-run.js';
import { hasProgram } from '../../../../testing/programs.js';
import { installedServers, pathWith, typescript7 } from '../../../../testing/real-language-servers.js';

const tsFiles = {
  'tsconfig.json': '{"compilerOptions":{"strict":true,"noEmit":true,"module":"nodenext","types":[]}}',
  'package.json': '{"type":"module"}',
  'a.ts': "export const add = (a: number, b: number): number => a + b;\nexport const broken: number = 'old';\n",
  'b.ts': "import { add } from './a.js';\nexport const sum: number = add(1, 2);\n",
};
const pyFiles = {
  'a.py': 'def add(a: int, b: int) -> int:\n    return a + b\n\n\nbroken: int = "old"\n',
  'b.py': 'from a import add\n\nsum: int = add(1, 2)\n',
};
const cFiles = {
  'compile_flags.txt': '-Wall\n',
  'a.h': 'int add(int a, int b);\n',
  'b.c': '#include "a.h"\nint *broken = 5.0;\nint sum(void) { return add(1, 2); }\n',
};

/** A project whose own TypeScript is 7. */
function typescriptProject(files: Record<string, string> = tsFiles) {
  const world = languageWorld(files, { path: pathWith('') });
  mkdirSync(join(world.root, 'node_modules', '.bin'), { recursive: true });
  symlinkSync(typescript7, join(world.root, 'node_modules', '.bin', 'tsc'));
  return world;
}

/** Breaks a file that another imports, changes the other one, and takes it back: what each result says. */
async function plantAndFix(world: ReturnType<typeof languageWorld>, extension: string, result: string) {
  const wrong = result.replace('number', 'string').replace('int', 'str');
  const broken = await world.edit(`a.${extension}`, result, wrong);
  const between = await world.edit(`b.${extension}`, 'add(1, 2)', 'add(1,  2)');
  const fixed = await world.edit(`a.${extension}`, wrong, result);
  return { files: filesIn(broken), isOldNamed: broken.includes('old'), between, fixed };
}

const filesIn = (text: string) => text.split('\n').flatMap((line) => /^(\w\.\w+):\d/.exec(line)?.[1] ?? []);

const once = (extension: string) => ({
  files: [`a.${extension}`, `b.${extension}`],
  isOldNamed: false,
  between: '',
  fixed: '',
});

test('TypeScript 7 reports a planted error and its importer once', { timeout: 120_000 }, async () => {
  expect(await plantAndFix(typescriptProject(), 'ts', '): number =>')).toEqual(once('ts'));
});

test('a file that somebody changed on disk is read again', { timeout: 120_000 }, async () => {
  const world = typescriptProject();
  await world.edit('b.ts', 'sum', 'total');
  world.put('a.ts', 'export const sub = 1;\n');
  expect(await world.edit('b.ts', 'total', 'sum')).toBe('');
  expect(await world.edit('b.ts', '{ add }', '{ add, sub }')).toBe('');
  expect(await world.edit('b.ts', 'sub', 'missing')).toMatch(/^New problems:\nb\.ts:1:15 error TS2305/);
});

test('a folder that moved is checked at its new place alone', { timeout: 120_000 }, async () => {
  const { 'b.ts': user, ...rest } = tsFiles;
  const world = typescriptProject({ ...rest, 'sub/b.ts': user.replace('./a', '../a') });
  await world.edit('a.ts', 'a + b', 'b + a');
  renameSync(join(world.root, 'sub'), join(world.root, 'moved'));
  await expect
    .poll(async () => {
      const broken = await world.edit('a.ts', '): number =>', '): string =>');
      await world.edit('a.ts', '): string =>', '): number =>');
      return broken.match(/^[\w/]+\.ts(?=:)/gm);
    })
    .toEqual(['a.ts', 'moved/b.ts']);
});

test('a module that is created is found by its importers', { timeout: 120_000 }, async () => {
  const world = typescriptProject();
  expect(await world.write('c.ts', "import { made } from './made.js';\nexport const c: string = made;\n")).toContain(
    'TS2307',
  );
  const text = await world.write('made.ts', 'export const made = 1;\n');
  expect(text).toMatch(/^New problems:\nc\.ts:2:14 error TS2322/);
});

test.runIf(isLong)('typescript-language-server does', { timeout: 300_000 }, async () => {
  const world = languageWorld(tsFiles, { path: pathWith(installedServers()) });
  expect(await plantAndFix(world, 'ts', '): number =>')).toEqual(once('ts'));
});

test.runIf(isLong)('pyright does', { timeout: 300_000 }, async () => {
  const world = languageWorld(pyFiles, { path: pathWith(installedServers()) });
  expect(await plantAndFix(world, 'py', '-> int:')).toEqual(once('py'));
});

test.runIf(isLong)('bash-language-server starts and knows a function', { timeout: 120_000 }, async () => {
  const world = languageWorld({ 'a.sh': 'greet() {\n  echo hi\n}\ngreet\n' }, { path: pathWith(installedServers()) });
  expect(await world.edit('a.sh', 'hi', 'hello')).toBe('');
  const symbols = await world.servers.use(world.fileOf('a.sh'), (server) =>
    server.ask('textDocument/documentSymbol', world.fileOf('a.sh'), {}),
  );
  expect(JSON.stringify(symbols)).toContain('greet');
});

/** Breaks the script that another one loads, changes the other one, and takes it back. */
test.skipIf(!isLong || !hasProgram('shellcheck'))(
  'bash-language-server with shellcheck reports a planted error and its importer once',
  {
    timeout: 120_000,
  },
  async () => {
    const files = {
      'a.sh': '#!/bin/bash\nexport name=me\necho $old\n',
      'b.sh': '#!/bin/bash\n. ./a.sh\necho "$name"\n',
    };
    const path = pathWith(installedServers());
    const world = languageWorld(files, { path: `${path}:${process.env['PATH']}` });
    // The server does not look at files that were opened while it started.
    await world.edit('b.sh', 'echo', 'echo ');
    const broken = await world.edit('a.sh', 'name=me', 'other="$missing"');
    const between = await world.edit('b.sh', 'echo', 'echo  ');
    const fixed = await world.edit('a.sh', 'other="$missing"', 'name=me');
    expect({ files: filesIn(broken), isOldNamed: broken.includes('old'), between, fixed }).toEqual(once('sh'));
  },
);

test.skipIf(!hasProgram('clangd'))(
  'clangd reports a planted error once, and never an old one',
  {
    timeout: 120_000,
  },
  async () => {
    const world = languageWorld(cFiles, { path: pathWith('') });
    expect(await world.edit('b.c', 'add(1, 2)', 'add(1)')).toMatch(/^New problems:\nb\.c:3:\d+ error [^\n]+$/);
    expect(await world.edit('b.c', 'int sum', 'int  sum')).toBe('');
    world.put('c.c', 'int other;\n');
    expect(await world.edit('b.c', 'add(1)', 'add(1, 2)')).toBe('');
  },
);

test.skipIf(!hasProgram('clangd'))('clangd reports what a header breaks', { timeout: 120_000 }, async () => {
  const world = languageWorld(cFiles, { path: pathWith('') });
  expect(await world.edit('a.h', 'int b', 'int b, int c')).toMatch(
    /^New problems:\nb\.c:3:\d+ error \S+: Too few arguments/,
  );
  expect(await world.edit('a.h', ', int c', '')).toBe('');
});

// pylsp looks at one file at a time, so that a file never breaks another.
test.skipIf(!hasProgram('pylsp') || !hasProgram('pyflakes3'))(
  'pylsp with pyflakes reports a planted error once',
  {
    timeout: 120_000,
  },
  async () => {
    const world = languageWorld({ 'a.py': 'print(old)\n\n\nx = 1\n' }, { path: pathWith('') });
    expect(await world.edit('a.py', 'x = 1', 'x = missing')).toBe(
      "New problems:\na.py:4:5 error: undefined name 'missing'",
    );
    expect(await world.edit('a.py', 'x =', 'y =')).toBe('');
    expect(await world.edit('a.py', 'missing', '2')).toBe('');
  },
);

// Debian's package brings no linter, so that it reports nothing by itself.
test.skipIf(!hasProgram('pylsp'))('pylsp finds a definition', { timeout: 120_000 }, async () => {
  const world = languageWorld({ 'a.py': 'def one():\n    return 1\n\n\none()\n' }, { path: pathWith('') });
  expect(await world.edit('a.py', 'return 1', 'return 2')).not.toContain('failed');
  const request = { action: 'definition', file_path: world.fileOf('a.py'), line: 5, symbol: 'one' } as const;
  expect(await world.navigate(request)).toBe('a.py:1:5: def one():');
});
