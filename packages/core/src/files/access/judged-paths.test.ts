import { expect, test } from 'vitest';
import { confirmReading, pathTarget } from './judged-paths.js';

const path = '/w/f';

test.each([
  ['reading inside', { inside: true }, 'read', { asks: false }],
  ['reading outside', { inside: false }, 'read', { asks: true }],
  ['reading what is meant to be read', { inside: false, readable: true }, 'read', { asks: false }],
  ['reading configuration', { inside: true, guarded: 'hooks' }, 'read', { asks: false }],
  ['reading a secret', { inside: true, secret: 'key' }, 'read', { asks: true, guarded: 'key' }],
  ['writing inside', { inside: true }, 'write', { asks: true }],
  ['writing where reading is free', { inside: false, readable: true }, 'write', { asks: true }],
  ['writing configuration', { inside: true, guarded: 'hooks' }, 'write', { asks: true, guarded: 'hooks' }],
  ['writing a secret', { inside: true, secret: 'key' }, 'write', { asks: true, guarded: 'key' }],
] as const)('%s', (_, location, access, expected) => {
  const inside = access === 'write' && { isInside: location.inside };
  expect(pathTarget({ path, ...location }, access)).toEqual({ type: 'path', access, path, ...inside, ...expected });
});

test('only what needs a question is asked about, with a rule for each place', () => {
  const locations = [
    { path: '/w/f', inside: true },
    { path: '/o/[a]*.txt', inside: false },
  ];
  expect(confirmReading('read_file', locations)).toEqual({
    type: 'info',
    title: 'Read outside the workspace?',
    prompt: '/o/[a]*.txt',
    rules: ['read_file(//o/\\[a\\]\\*.txt)'],
  });
  expect(confirmReading('read_file', locations.slice(0, 1))).toBe(false);
});

test('a secret is named and gets no rule', () => {
  expect(confirmReading('read_file', [{ path: '/h/.ssh/id_rsa', inside: false, secret: 'keys' }])).toEqual({
    type: 'info',
    title: 'Read a secret?',
    prompt: '/h/.ssh/id_rsa',
    warnings: ['keys'],
  });
});
