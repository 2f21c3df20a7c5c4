import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { usualSeed } from '../../../../testing/random.js';
import { splitArguments } from './split-arguments.js';

test.each([
  ['python3 tool.py --call', ['python3', 'tool.py', '--call']],
  [`  node   'my tool.js'  "a b"`, ['node', 'my tool.js', 'a b']],
  [`a"b c"'d e'f\\ g`, ['ab cd ef g']],
  [`x "" ''`, ['x', '', '']],
  [`"say \\"hi\\" \\$5 \\n"`, ['say "hi" $5 \\n']],
  ['~/bin/list "~/x" a~/b', ['/home/me/bin/list', '~/x', 'a~/b']],
  ['$UNSET a$ #b', ['$UNSET', 'a$', '#b']],
  ["bash -c 'a | b; c > d'", ['bash', '-c', 'a | b; c > d']],
])('%s', (line, words) => {
  expect(splitArguments(line, { home: '/home/me' })).toEqual({ ok: true, words });
});

test.each([
  ['', 'empty'],
  ['  ', 'empty'],
  ["a 'b", 'not closed'],
  ['a "b\\"', 'not closed'],
  ['a \\', 'backslash'],
  ['a | b', '"|" needs a shell'],
  ['a; b', '";" needs a shell'],
  ['a > b', '">" needs a shell'],
  ['a `b`', 'needs a shell'],
  ['a $(b)', 'needs a shell'],
  ['a "$(b)"', 'needs a shell'],
])('%s is rejected with a reason', (line, reason) => {
  const result = splitArguments(line);
  expect(result).toMatchObject({ ok: false, problem: expect.stringContaining(reason) });
});

test('the words are the same as in a shell', () => {
  const text = fc.string({
    unit: fc.constantFrom('a', '~', ' ', "'", '"', '\\', '#', '-', '=', 'é', '\t'),
    maxLength: 12,
  });
  const lines = fc.sample(text, { numRuns: 300, seed: usualSeed }).map((line) => `x${line}`);
  const split = lines
    .map((line) => ({ line, result: splitArguments(line, { home: '/h' }) }))
    // A word that begins with # is a comment to a shell; to a program it is an argument.
    .filter(({ line, result }) => result.ok && !/\s#/.test(line) && !/~[a~é\\'"=#-]|[:=]~/.test(line));
  expect(split.length).toBeGreaterThan(100);
  const script = split.map(({ line }) => `set -- ${line}\nprintf '%s\\0' "$@"; printf '\\1'`).join('\n');
  const printed = execFileSync('sh', ['-c', script], { env: { HOME: '/h' }, encoding: 'utf8' }).split('\u0001');
  split.forEach(({ line, result }, index) => {
    expect({ line, words: result.ok && result.words }, `LATHE_SEED=${usualSeed}`).toEqual({
      line,
      words: printed[index]?.split('\0').slice(0, -1),
    });
  });
});
