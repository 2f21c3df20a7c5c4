import { attempt } from '../../contract/errors.js';
import { CommandWalk } from '../shell/walk-command.js';
import { matchCommandRule } from './command-rule.js';
import { exactRule, isExactRule } from './exact-rule.js';

/** Commands a rule should match, and commands it must not match. */
export interface RuleExamples {
  match?: readonly string[];
  not_match?: readonly string[];
}

/**
 * The examples of a rule that contradict it, as sentences; empty if the rule does what its author expects. A deny or ask
 * rule matches if it may match any simple command of a compound, an allow rule if it matches all of them.
 */
export function checkRuleExamples(
  rule: string,
  { match = [], not_match = [] }: RuleExamples,
  { isRestriction = false }: { isRestriction?: boolean } = {},
): string[] {
  const holds = (example: string) => holdsFor(rule, example, isRestriction);
  return [
    ...match.filter((example) => !holds(example)).map((example) => `"${rule}" does not match "${example}".`),
    ...not_match.filter(holds).map((example) => `"${rule}" matches "${example}".`),
  ];
}

function holdsFor(rule: string, command: string, isRestriction: boolean): boolean {
  if (isExactRule(rule)) return rule === exactRule({ command, directory: '.', isBackground: false });
  const matches = wordsOf(command)?.map((words) => matchCommandRule(rule, words));
  // A command that cannot be parsed may be anything.
  if (matches === undefined) return isRestriction;
  if (isRestriction) return matches.some((match) => match !== 'no');
  return matches.length > 0 && matches.every((match) => match === 'yes');
}

function wordsOf(command: string): string[][] | undefined {
  const place = { cwd: '/', workspaceRoots: [], home: '/', path: '' };
  return attempt(() => new CommandWalk(place).run(command).segments.map(({ words }) => words));
}
