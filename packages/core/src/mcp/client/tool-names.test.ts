import fc from 'fast-check';
import { expect, test } from 'vitest';
import { policyOf } from '../../../../../testing/scheduler-kit.js';
import { aliasOf, toolName } from './tool-names.js';

test.each([
  ['github', 'search_code', 'github__search_code'],
  ['a', 'b__c', 'a__b__c'],
  ['mcp', 'echo', 'mcp__echo'],
])('%s and %s are used unchanged', (server, tool, name) => {
  expect(toolName(aliasOf(server), tool)).toBe(name);
});

test('SG04: names that would be equal when joined stay distinct', () => {
  const pairs = [
    ['a', 'b__c'],
    ['a__b', 'c'],
    ['a', '_b'],
    ['a_', 'b'],
    ['_a', 'b'],
    ['é', 'b'],
    ['è', 'b'],
    ['x', 'y'.repeat(100)],
    ['x', `${'y'.repeat(99)}z`],
    ['read_file', 'x'],
  ] as const;
  const names = pairs.map(([server, tool]) => toolName(aliasOf(server, new Set(['read_file'])), tool));
  expect(new Set(names).size).toBe(pairs.length);
  expect(names.at(-1)).not.toMatch(/^read_file__/);
});

test('every name is valid for every provider, stable, and begins with its server', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', minLength: 1, maxLength: 120 }),
    fc.string({ unit: fc.constantFrom('a', 'B', '_', '-', '7', '.'), minLength: 1, maxLength: 90 }),
  );
  fc.assert(
    fc.property(text, text, (server, tool) => {
      const alias = aliasOf(server);
      const name = toolName(alias, tool);
      expect(name).toMatch(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/);
      expect(name.split('__')[0]).toBe(alias);
      expect(toolName(aliasOf(server), tool)).toBe(name);
    }),
  );
});

test('different tools of different servers never share a name', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', '_', '-', ' ', 'é'), minLength: 1, maxLength: 6 });
  const pair = fc.tuple(word, word);
  fc.assert(
    fc.property(pair, pair, ([serverA, toolA], [serverB, toolB]) => {
      fc.pre(serverA !== serverB || toolA !== toolB);
      expect(toolName(aliasOf(serverA), toolA)).not.toBe(toolName(aliasOf(serverB), toolB));
    }),
  );
});

test('a rule for one server covers no other, in every spelling', () => {
  const verdict = (rule: string, tool: string) =>
    policyOf({ deny: [rule] }).judge({ tool, isReadOnly: false, targets: [], confirmation: false }).verdict;
  for (const rule of ['github', 'github__*', 'github__search', 'mcp__github__search', 'mcp__github', 'mcp__github__*'])
    expect([rule, verdict(rule, 'github__search')]).toEqual([rule, 'deny']);
  expect(verdict('mcp__echo', 'mcp__echo')).toBe('deny');
  for (const rule of ['git', 'hub', 'github__sear', 'mcp__git'])
    expect([rule, verdict(rule, 'github__search')]).toEqual([rule, 'allow']);
});
