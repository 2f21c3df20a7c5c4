import { matchCommandRule } from './command-rule.js';
import { CommandWalk } from './walk-command.js';

/** Commands a rule is meant to hold for, and commands it must not hold for. */
export interface RuleExamples {
  match?: readonly string[];
  not_match?: readonly string[];
}

/**
 * What a rule's own examples prove wrong about it, as sentences; empty when it does what its author believes. A rule
 * that restricts holds when any simple command of a compound may be meant, one that allows when all of them are.
 */
export function checkRuleExamples(
  rule: string,
  { match = [], not_match = [] }: RuleExamples,
  { isRestriction = false }: { isRestriction?: boolean } = {},
): string[] {
  const holds = (example: string) => holdsFor(rule, example, isRestriction);
  return [
    ...match.filter((example) => !holds(example)).map((example) => `"${rule}" does not hold for "${example}".`),
    ...not_match.filter(holds).map((example) => `"${rule}" holds for "${example}".`),
  ];
}

function holdsFor(rule: string, command: string, isRestriction: boolean): boolean {
  const matches = wordsOf(command)?.map((words) => matchCommandRule(rule, words));
  // What cannot be read may be anything.
  if (matches === undefined) return isRestriction;
  if (isRestriction) return matches.some((match) => match !== 'no');
  return matches.length > 0 && matches.every((match) => match === 'yes');
}

function wordsOf(command: string): string[][] | undefined {
  const place = { cwd: '/', workspaceRoots: [], home: '/', path: '' };
  try {
    return new CommandWalk(place).run(command).segments.map(({ words }) => words);
  } catch {
    return undefined;
  }
}
