import { matchCommandRule } from './command-rule.js';
import { CommandWalk } from './walk-command.js';

/** Commands a rule is meant to hold for, and commands it must not hold for. */
export interface RuleExamples {
  match?: readonly string[];
  not_match?: readonly string[];
}

/** What a rule's own examples prove wrong about it, as sentences; empty when it does what its author believes. */
export function checkRuleExamples(rule: string, { match = [], not_match = [] }: RuleExamples): string[] {
  return [
    ...match.filter((example) => !holdsFor(rule, example)).map((example) => `${rule} does not hold for: ${example}`),
    ...not_match.filter((example) => holdsFor(rule, example)).map((example) => `${rule} holds for: ${example}`),
  ];
}

/** Whether a rule alone covers every simple command of a compound. */
function holdsFor(rule: string, command: string): boolean {
  const place = { cwd: '/', workspaceRoots: [], home: '/', path: '' };
  const { segments } = new CommandWalk(place).run(command);
  return segments.length > 0 && segments.every(({ words }) => matchCommandRule(rule, words) === 'yes');
}
