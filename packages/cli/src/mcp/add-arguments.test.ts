import { expect, test } from 'vitest';
import { UsageError } from '../command-line/args.js';
import { parseAdd } from './add-arguments.js';

test.each([
  [
    ['memory', 'npx', '-y', '@x/server', '--scope', 'project'],
    { name: 'memory', scope: 'user', server: { command: 'npx', args: ['-y', '@x/server', '--scope', 'project'] } },
  ],
  [
    ['-s', 'project', '-e', 'A=b=c', '--trust', '--timeout=5', 'x', '--', 'prog', '-v'],
    {
      name: 'x',
      scope: 'project',
      server: { command: 'prog', args: ['-v'], env: { A: 'b=c' }, timeout: 5, trust: true },
    },
  ],
  [
    ['web', 'https://example.com/mcp', '--header', 'Authorization: Bearer $T', '--include-tools', 'a, b'],
    {
      name: 'web',
      scope: 'user',
      server: { httpUrl: 'https://example.com/mcp', headers: { Authorization: 'Bearer $T' }, includeTools: ['a', 'b'] },
    },
  ],
  [
    ['-t', 'sse', 'web', 'https://example.com/sse'],
    { name: 'web', scope: 'user', server: { url: 'https://example.com/sse', type: 'sse' } },
  ],
])('%j', (args, request) => {
  expect(parseAdd(args)).toEqual(request);
});

test.each([
  [[]],
  [['x']],
  [['--nonsense', 'x', 'y']],
  [['-s', 'world', 'x', 'y']],
  [['-t', 'tcp', 'x', 'y']],
  [['-e', 'A', 'x', 'y']],
  [['-e']],
])('%j is a usage error', (args) => {
  expect(() => parseAdd(args)).toThrow(UsageError);
});
