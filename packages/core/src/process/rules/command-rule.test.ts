import { expect, test } from 'vitest';
import { unknownPart } from '../shell/command-analysis.js';
import { checkCommandRule, matchCommandRule } from './command-rule.js';
import { checkRuleExamples } from './rule-examples.js';

const split = (command: string) => command.split(' ').map((word) => word.replaceAll('?', unknownPart));

// SA01
test.each([
  ['git log', 'git log', 'yes'],
  ['git log', 'git log -1', 'yes'],
  ['git log', 'git logout', 'no'],
  ['git log', 'git log-x', 'no'],
  ['git log', 'gitlog', 'no'],
  ['git log', 'git', 'no'],
  ['git *', 'git', 'yes'],
  ['git *', 'git push --force', 'yes'],
  ['git *', 'gitk', 'no'],
  ['git log:*', 'git log -1', 'yes'],
  ['git log:*', 'git logs', 'no'],
  ['git push * --force', 'git push origin main --force', 'yes'],
  ['git push * --force', 'git push --force', 'yes'],
  ['git push * --force', 'git push origin', 'no'],
  ['npm run test*', 'npm run test:unit', 'yes'],
  ['npm run test*', 'npm run tes', 'no'],
  ['*', 'anything at all', 'yes'],
  ['rm', '/bin/rm x', 'no'],
  ['a.c', 'abc', 'no'],
  ['git checkout *', 'git checkout ?', 'yes'],
  ['git checkout main', 'git checkout ?', 'maybe'],
  ['git checkout main', 'git ?', 'maybe'],
  ['git checkout main', '?', 'maybe'],
  ['git checkout main', 'git checkout m?', 'maybe'],
  ['git checkout main', 'git checkout x?', 'no'],
  ['rm -rf *', 'rm ? x', 'maybe'],
  ['curl', 'cu?', 'maybe'],
  ['curl', 'wg?', 'no'],
  ['', 'git', 'no'],
  ['__proto__', 'toString', 'no'],
] as const)('the rule %j for %j: %s', (rule, command, expected) => {
  expect(matchCommandRule(rule, split(command))).toBe(expected);
});

test('quotes in a rule group words', () => {
  expect(matchCommandRule('git commit -m "a b"', ['git', 'commit', '-m', 'a b'])).toBe('yes');
  expect(matchCommandRule("echo '*'", ['echo', 'x'])).toBe('no');
  expect(matchCommandRule("echo '*'", ['echo', '*'])).toBe('yes');
});

// SA22
test.each(['', '   ', 'git "log', "git 'log", 'git\nlog'])('%j is not a rule', (rule) => {
  expect(checkCommandRule(rule)).toEqual(expect.any(String));
});

test.each(['git log', 'git *', '*', 'toString', '__proto__', 'a "b c"'])('%j is a rule', (rule) => {
  expect(checkCommandRule(rule)).toBeUndefined();
});

// SA23
test('a rule that contradicts its examples is reported', () => {
  expect(
    checkRuleExamples('git log *', {
      match: ['git log', 'git log -1 && git log -2'],
      not_match: ['git log; rm x', 'git logs'],
    }),
  ).toEqual([]);
  expect(checkRuleExamples('git *', { match: ['ls'], not_match: ['git push'] })).toEqual([
    '"git *" does not match "ls".',
    '"git *" matches "git push".',
  ]);
  const restriction = { isRestriction: true };
  expect(
    checkRuleExamples('git push', { match: ['ls && git push', '$x'], not_match: ['git pull'] }, restriction),
  ).toEqual([]);
  expect(checkRuleExamples('git push', { not_match: ['ls; git push -f'] }, restriction)).toHaveLength(1);
});

// SJ02
test.each(['*a', 'a*', '*a*', '"a"*'])('a rule with many stars (%s) matches in linear time', (piece) => {
  const rule = `echo ${piece.repeat(100)}b`;
  expect(matchCommandRule(rule, ['echo', 'a'.repeat(20_000)])).toBe('no');
  expect(matchCommandRule(rule, ['echo', `${'a'.repeat(20_000)}b`])).toBe('yes');
});
