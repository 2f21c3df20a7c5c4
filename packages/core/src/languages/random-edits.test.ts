import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { languageWorld } from '../../../../testing/language-world.js';
import { isLong, report } from '../../../../testing/long-run.js';
import { pick, type Random, randomFrom, usualSeed } from '../../../../testing/random.js';
import {
  type CheckedProblem,
  checkWithPyright,
  checkWithTsc,
  inOrder,
  installedServers,
  newSince,
  pathWith,
  reportedProblems,
  typescript7,
} from '../../../../testing/real-language-servers.js';

interface Project {
  files: Record<string, string>;
  /** New content for one line, or for more lines in its place. */
  mutate: (line: string, random: Random) => string[];
  check: (root: string) => CheckedProblem[];
}

const config = '{"compilerOptions":{"strict":true,"noEmit":true,"module":"nodenext","target":"es2022","types":[]}}';

/**
 * Modules that import each other, directly and through others, one of them with an old error. No change breaks the
 * syntax, because tsc then prints nothing else.
 */
const typescript: Project = {
  files: {
    'tsconfig.json': config,
    'package.json': '{"type":"module"}',
    'base.ts': [
      'export interface Shape { name: string; size: number }',
      'export function area(shape: Shape): number { return shape.size; }',
      "export const unit: Shape = { name: 'unit', size: 1 };",
      "export const broken: number = 'old';",
      '',
    ].join('\n'),
    'again.ts': "export * from './base.js';\nexport const twice = (n: number) => n * 2;\n",
    'user.ts':
      "import { area, type Shape, unit } from './base.js';\nexport const total: number = area(unit);\nexport const made: Shape = { ...unit, size: total };\n",
    'far.ts': "import { area, twice, unit } from './again.js';\nexport const far = twice(area(unit));\n",
    'farther.ts': "import { far } from './far.js';\nexport const text = far.toFixed(2);\n",
    'alone.ts': 'export const alone: string = String(1);\n',
  },
  mutate: (line, random) =>
    pick(random, [
      () => [line.replace('number', 'string')],
      () => [line.replace('string', 'number')],
      () => [line.replace(/\b(area|unit|twice|far|size)\b/, '$1x')],
      () => [line.replace(/x\b/, '')],
      () => [line, `const extra${Math.floor(random() * 1e6)}: number = 'no';`],
      () => ['', line],
      () => [`// ${line}`],
      () => [line.replace('// ', '')],
      () => [],
    ])(),
  check: checkWithTsc,
};

const python: Project = {
  files: {
    'pyproject.toml': '[tool.pyright]\ntypeCheckingMode = "standard"\n',
    'base.py': 'def area(size: int) -> int:\n    return size\n\n\nunit: int = 1\nbroken: int = "old"\n',
    'user.py': 'from base import area, unit\n\ntotal: int = area(unit)\n',
    'again.py': 'from base import area as area_again\n\n\ndef twice(n: int):\n    return area_again(n) * 2\n',
    'far.py': 'from again import twice\n\nfar = twice(2)\nshown: int = far\n',
    'alone.py': 'alone: str = str(1)\n',
  },
  mutate: (line, random) =>
    pick(random, [
      () => [line.replace('int', 'str')],
      () => [line.replace('str', 'int')],
      () => [line.replace(/\b(area|unit|twice|far)\b/, '$1x')],
      () => [line.replace(/x\b/, '')],
      () => [line, `extra${Math.floor(random() * 1e6)}: int = "no"`],
      () => ['', line],
      () => [`# ${line}`],
      () => [line.replace('# ', '')],
    ])(),
  check: checkWithPyright,
};

/** Edits random lines, and puts a file back from time to time; compares each result with a full check. */
async function compare(project: Project, count: number, world: ReturnType<typeof languageWorld>): Promise<number> {
  const random = randomFrom(usualSeed);
  const names = Object.keys(project.files).filter((name) => /\.(?:ts|py)$/.test(name));
  let before = project.check(world.root);
  let named = 0;
  for (let n = 0; n < count; n++) {
    const file = pick(random, names);
    const text = world.read(file) ?? '';
    const lines = text.split('\n');
    const at = Math.floor(random() * (lines.length - 1));
    const isReset = random() < 0.2;
    const fresh = isReset ? (project.files[file] ?? '').split('\n') : project.mutate(lines[at] ?? '', random);
    const after = isReset ? fresh : lines.toSpliced(at, 1, ...fresh);
    if (after.join('\n') === text) continue;
    const found = await world.write(file, after.join('\n'));
    const now = project.check(world.root);
    const change = isReset
      ? { file, line: 1, removed: lines.length, added: fresh.length }
      : { file, line: at + 1, removed: 1, added: fresh.length };
    const expected = newSince(before, now, change);
    const where = `edit ${n} of ${file}, LATHE_SEED=${usualSeed}\n${text}---\n${after.join('\n')}---\n${found}`;
    const told = reportedProblems(found);
    expect(inOrder(now), `stale: ${where}`).toEqual(expect.arrayContaining(inOrder(told)));
    // After a reset all lines count as replaced for the full check, and the server's result may say more exactly which.
    if (isReset) expect(inOrder(told), where).toEqual(expect.arrayContaining(inOrder(expected)));
    else expect(inOrder(told), where).toEqual(inOrder(expected).slice(0, Math.max(20, told.length)));
    named += told.length;
    before = now;
  }
  return named;
}

test('TypeScript 7 names what tsc --noEmit finds new after each random edit', { timeout: 900_000 }, async () => {
  const count = isLong ? 200 : 8;
  const world = languageWorld(typescript.files, { path: pathWith('') });
  mkdirSync(join(world.root, 'node_modules', '.bin'), { recursive: true });
  symlinkSync(typescript7, join(world.root, 'node_modules', '.bin', 'tsc'));
  const named = await compare(typescript, count, world);
  report('random edits in TypeScript compared with tsc --noEmit', count, { 'problems named': named });
  expect(named).toBeGreaterThan(0);
});

test.runIf(isLong)('typescript-language-server names the same', { timeout: 1_800_000 }, async () => {
  const world = languageWorld(typescript.files, { path: pathWith(installedServers()) });
  const named = await compare(typescript, 50, world);
  report('random edits with typescript-language-server compared with tsc --noEmit', 50, { 'problems named': named });
  expect(named).toBeGreaterThan(0);
});

test.runIf(isLong)('pyright names what a full check finds new', { timeout: 3_600_000 }, async () => {
  const world = languageWorld(python.files, { path: pathWith(installedServers()) });
  const named = await compare(python, 200, world);
  report('random edits in Python compared with pyright', 200, { 'problems named': named });
  expect(named).toBeGreaterThan(0);
});
