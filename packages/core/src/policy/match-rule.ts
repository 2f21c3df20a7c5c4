import type { Target } from '../tools/target.js';
import { matchesCommand } from './match-command.js';
import { matchesHost } from './match-host.js';
import { matchesName } from './match-name.js';
import { matchesPath, type PathBases } from './match-path.js';
import type { Reading, Rule } from './rule.js';

/** What a rule covers of a call: all of it, or some of its targets. */
export type Coverage = 'all' | readonly Target[];

export function coverage(
  rule: Rule,
  call: { tool: string; targets: readonly Target[] },
  reading: Reading,
  bases: PathBases,
): Coverage {
  if (rule.spec === undefined) return matchesName(rule.tool, call.tool) ? 'all' : [];
  const { tool, spec } = rule;
  return call.targets.filter((target) => matchesTarget({ tool, spec }, target, reading, bases));
}

/** Tools whose specs speak of files read and files written; such rules bind every tool that touches the same thing. */
const readers = new Set(['read_file', 'read_many_files']);
const writers = new Set(['edit', 'write_file']);

function matchesTarget(
  rule: { tool: string; spec: string },
  target: Target,
  reading: Reading,
  bases: PathBases,
): boolean {
  if (target.hidden && reading === 'narrow') return false;
  switch (target.type) {
    case 'command':
      return rule.tool === 'run_shell_command' && matchesCommand(rule.spec, target.words, reading);
    case 'host':
      return rule.tool === 'web_fetch' && matchesHost(rule.spec, target, reading);
    case 'path':
      return (
        (target.access === 'read' ? readers : writers).has(rule.tool) &&
        matchesPath(rule.spec, target.path, reading, bases)
      );
  }
}
