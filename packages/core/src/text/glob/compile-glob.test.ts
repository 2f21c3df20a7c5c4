import { describe, expect, test } from 'vitest';
import { compileGlob, globProblem } from './compile-glob.js';
import { expandBraces } from './expand-braces.js';
import { compileComponent } from './glob-component.js';

describe('a glob', () => {
  test.each([
    ['*.ts', 'a.ts', true],
    ['*.ts', 'src/a.ts', false],
    ['*', '.hidden', true],
    ['**/*.ts', 'a.ts', true],
    ['**/*.ts', 'a/b/c.ts', true],
    ['src/**', 'src/a/b', true],
    ['src/**', 'src', false],
    ['src/**/test/*.ts', 'src/test/a.ts', true],
    ['src/**/test/*.ts', 'src/a/b/test/a.ts', true],
    ['src/**/test/*.ts', 'src/a/b/a.ts', false],
    ['**/**/**/x', 'x', true],
    ['./a//b', 'a/b', true],
    ['a?c', 'abc', true],
    ['a[b-d]c', 'acc', true],
    ['a[!b-d]c', 'acc', false],
    ['a[^b-d]c', 'azc', true],
    ['a[]]c', 'a]c', true],
    ['[[:digit:]]x', '7x', true],
    ['\\*', '*', true],
    ['\\*', 'a', false],
    ['*.{js,ts}', 'a.ts', true],
    ['{src,test}/**/*.{a,b{1,2}}', 'test/x/y.b2', true],
    ['{a}', '{a}', true],
    ['[id].tsx', '[id].tsx', true],
    ['[id].tsx', 'i.tsx', true],
    ['app/[id]/(group)/page.tsx', 'app/[id]/(group)/page.tsx', true],
    ['a[', 'a[', true],
    ['?.txt', '😀.txt', true],
    ['??.txt', '😀.txt', false],
    ['*?[😀-😂]', 'x😀😁', true],
    ['*??', '😀', false],
  ])('%s on %s: %s', (pattern, path, expected) => {
    expect(compileGlob(pattern).matches(path)).toBe(expected);
  });

  // RL11
  test('ignores case only when told to', () => {
    expect(compileGlob('*.TS').matches('a.ts')).toBe(false);
    expect(compileGlob('SRC/*.TS', { ignoreCase: true }).matches('src/A.ts')).toBe(true);
  });

  test.each(['.', './', '/'])('of no name, as %j is, enters no directory', (pattern) => {
    expect(compileGlob(pattern).start.enter('a')).toBeUndefined();
    expect(compileGlob(pattern, { ignoreCase: true }).start.enter('a')).toBeUndefined();
  });

  test.each([
    ['ΣΑΣ*', 'ΣΑΣΑ.txt'],
    ['*σ', 'ΑΣ'],
    ['ΑΣ', 'ας'],
    ['[[:upper:]]*.md', 'README.md'],
    ['[[:lower:]]*.md', 'README.md'],
    ['[A-Z].md', 'a.md'],
  ])('%s matches %s when case is ignored', (pattern, path) => {
    expect(compileGlob(pattern, { ignoreCase: true }).matches(path)).toBe(true);
  });

  test('says which directories are not worth entering', () => {
    const { start } = compileGlob('src/*/test/**');
    expect(start.enter('lib')).toBeUndefined();
    expect(start.enter('src')?.enter('a')?.enter('other')).toBeUndefined();
    expect(start.enter('src')?.enter('a')?.enter('test')?.enter('deep')?.matches('x')).toBe(true);
  });
});

// SJ03
describe('hostile patterns', () => {
  test.each(['{a,b}'.repeat(30), `${'{a,'.repeat(3000)}${'}'.repeat(3000)}`, 'x'.repeat(100_000)])(
    'a pattern that is too large is rejected, not expanded (%#)',
    (pattern) => {
      expect(() => compileGlob(pattern)).toThrow(RangeError);
    },
  );

  test.each([
    [`${'{a,b}'.repeat(9)}${'/*x?'.repeat(1000)}`, 'more than 32768 characters'],
    [`${'{a,b}'.repeat(9)}${'[!a-z]*'.repeat(560)}`, 'more than 32768 characters'],
    [`${'{a,'.repeat(900)}${'}'.repeat(900)}`, 'too many braces'],
    ['{a,b}'.repeat(800), 'too many braces'],
  ])('braces that only cause work are rejected (%#)', (pattern, reason) => {
    expect(globProblem(pattern)).toContain(reason);
  });

  test('many stars take no longer than pattern times name', () => {
    const name = 'a'.repeat(255);
    expect(compileComponent(`${'*a'.repeat(100)}*b`)(name)).toBe(false);
    expect(compileGlob(`${'**/'.repeat(1300)}b`).matches(`${'a/'.repeat(400)}b`)).toBe(true);
    expect(compileGlob(`${'**/a*/'.repeat(100)}b`).matches(`${'aa/'.repeat(400)}c`)).toBe(false);
  });

  test('deeply nested braces count once each', () => {
    const letters = 'abcdefghijk'.split('');
    const nested = letters.reduceRight((inner, letter) => `{${letter},${inner}}`);
    expect(expandBraces(nested)).toEqual(letters);
    expect(expandBraces('{a{b,c}}{d')).toEqual(['{ab}{d', '{ac}{d']);
  });

  test('nested braces are all expanded', () => {
    expect(expandBraces('a{b,{c,d}e}f')).toEqual(['abf', 'acef', 'adef']);
  });
});
