import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { linearPattern } from './linear-pattern.js';
import { parsePattern } from './pattern-syntax.js';
import { safePattern } from './safe-pattern.js';

function matches(source: string, text: string): boolean {
  const pattern = safePattern(source);
  if (typeof pattern === 'string') throw new Error(`${source} ${pattern}`);
  return pattern.test(text);
}

const octet = '(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9][0-9]|[0-9])';
const label = '[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?';
const semver =
  '^(0|[1-9]\\d*)\\.(0|[1-9]\\d*)\\.(0|[1-9]\\d*)(?:-((?:0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\\.(?:0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?(?:\\+([0-9a-zA-Z-]+(?:\\.[0-9a-zA-Z-]+)*))?$';
const zodEmail =
  "^(?!\\.)(?!.*\\.\\.)([A-Za-z0-9_'+\\-\\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\\-]*\\.)+[A-Za-z]{2,}$";

test.each([
  ['an IPv4 address of zod 4', `^(?:${octet}\\.){3}${octet}$`, '192.168.0.255', '192.168.0.256'],
  ['an email address of zod 4', zodEmail, 'first.last@sub.example.org', 'first..last@example.org'],
  ['a semantic version', semver, '1.2.3-rc.1+build.5', '1.02.3'],
  ['an RFC 1123 host name', `^${label}(?:\\.${label})*$`, 'a-b.example.org', 'a-.example.org'],
  ['a domain', '^(?!-)(?:[a-z0-9-]{1,63}(?<!-)\\.)+[a-z]{2,63}$', 'docs.example.org', 'docs-.example.org'],
  ['nested repetition', '^(a+)+$', 'aaaa', 'aaab'],
  ['equal alternatives', '^(a|a)*$', 'aaaa', 'aaab'],
  ['two overlapping loops in one', '(x+x+)+y', 'xxxy', 'xyx'],
  ['an alternative without width in a loop', '(a(?:.|\\B)){1,50}$', 'aaa!', `${'a'.repeat(60)}!!`],
  ['many loops', '.*.*.*.*=', 'a=', 'a'],
  ['words', '^(\\w+\\s?)*$', 'one two', 'one  two'],
  ['a lookahead in a loop', '^(?:(?=a|b)[a-c]+)+$', 'abac', 'cab'],
  ['a lookahead that is not there', '^(?!.*(a|aa)+b)c', 'caa', 'caab'],
  ['word boundaries', '(?:\\b(a|ab)+\\b)+!', 'x ab!', 'xab!'],
  ['more than the Basic Multilingual Plane', '^(😀|😀😀)+$', '😀😀😀', '😀!'],
  ['the older syntax', '^(\\_|\\_a)+$', '_a__', '_b'],
  ['a pattern of 3,000 characters', `^(?:${'ab|'.repeat(1_000)}x+)+$`, 'abxx', 'b'],
  ['a common email pattern', '^[^@\\s]+@[^@\\s]+\\.[^@\\s]+$', 'a@b.c', '@a@b.c!!'],
  ['a version', '^v?\\d+(\\.\\d+)*$', 'v1.2.3', '@v1.2.3'],
  ['an unnecessary escape', '^[\\w\\-]+\\-$', 'a-', '@a-'],
])('%s is checked', (_, source, good, bad) => {
  expect([matches(source, good), matches(source, bad)]).toEqual([true, false]);
});

test.each([
  ['a backreference', '^(a)\\1$'],
  ['a named backreference', '^(?<x>a)\\k<x>$'],
  ['repetitions of repetitions', `^${'('.repeat(20)}a|b${'){1,9}'.repeat(20)}$`],
  ['deep nesting', `^${'(?:'.repeat(100)}a${')*'.repeat(100)}$`],
])('%s is not checked: any value matches', (_, source) => {
  expect(matches(source, '?')).toBe(true);
});

const atom = fc.constantFrom('a', 'b', '.', '[ab]', '[^a]', '\\w', '\\s', 'é', '^', '$', '\\b', '\\B');
const source = fc.letrec<{ pattern: string }>((tie) => ({
  pattern: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    atom,
    fc.tuple(tie('pattern'), tie('pattern')).map((parts) => parts.join('')),
    fc.tuple(tie('pattern'), tie('pattern')).map((parts) => `(?:${parts.join('|')})`),
    fc
      .tuple(tie('pattern'), fc.constantFrom('*', '+', '?', '{2}', '{1,3}', '{2,}', '*?'))
      .map(([body, quantifier]) => `(${body})${quantifier}`),
    fc.tuple(fc.constantFrom('?=', '?!', '?<=', '?<!'), tie('pattern')).map(([look, body]) => `(${look}${body})`),
  ),
})).pattern;

test('the linear engine decides as the one of JavaScript does', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', 'é', ' ', '\n', '中'), maxLength: 8 });
  fc.assert(
    fc.property(source, text, (pattern, value) => {
      const linear = linearPattern(parsePattern(pattern, { isUnicode: true }) ?? [], { isUnicode: true });
      expect(linear?.test(value)).toBe(new RegExp(pattern, 'u').test(value));
    }),
    { numRuns: process.env['LATHE_LONG'] ? 100_000 : 5_000 },
  );
});

// SJ02
test('no pattern and value take long, compared with a scan of 20 MB', () => {
  const scanned = 'a'.repeat(20_000_000);
  const scan = timeOf(() => {
    let sum = 0;
    for (let index = 0; index < scanned.length; index++) sum += scanned.charCodeAt(index);
    return sum;
  });
  const value = fc
    .tuple(
      fc.constantFrom('a', 'ab', 'aab', 'é', 'a '),
      fc.constantFrom(30, 1_000, 50_000, 500_000),
      fc.constantFrom('', '!'),
    )
    .map(([unit, count, end]) => unit.repeat(count) + end);
  const loops = fc.array(fc.tuple(source, fc.constantFrom('*', '+', '{1,50}', '')), { minLength: 1, maxLength: 5 });
  const hostile = loops.map((parts) => `${parts.map(([body, quantifier]) => `(${body})${quantifier}`).join('')}$`);
  fc.assert(
    fc.property(hostile, value, (pattern, text) => {
      expect(timeOf(() => matches(pattern, text)) / scan).toBeLessThan(100);
    }),
    { numRuns: process.env['LATHE_LONG'] ? 5_000 : 200 },
  );
}, 180_000);

function timeOf(work: () => unknown): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}
