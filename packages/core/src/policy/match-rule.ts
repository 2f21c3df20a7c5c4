import type { Target } from '../contract/target.js';
import { matchesCommand } from './match-command.js';
import { matchesHost } from './match-host.js';
import { matchesName } from './match-name.js';
import type { PathRules } from './match-path.js';
import type { Reading } from './reading.js';
import { kindOfSpec, type Rule } from './rule.js';

/** What a rule covers of a call: all of it, or some of its targets. */
export type Coverage = 'all' | readonly Target[];

interface RuledCall {
  tool: string;
  targets: readonly Target[];
}

export function coverage(rule: Rule, call: RuledCall, reading: Reading, paths: PathRules): Coverage {
  const { tool, spec } = rule;
  if (spec === undefined) return namesCall(tool, call.tool, reading) ? 'all' : [];
  // Nothing of this tool can be told apart by a specification, so forbidding a part of it forbids it all.
  if (kindOfSpec(tool) === undefined) return reading === 'wide' && namesCall(tool, call.tool, reading) ? 'all' : [];
  return call.targets.filter((target) => matchesTarget({ tool, spec }, target, call.tool, { reading, paths }));
}

/** True when the rule, which forbids, speaks of reading files. */
export function forbidsReading({ tool, spec }: Rule): boolean {
  return spec !== undefined && kindOfSpec(tool) === 'read';
}

function namesCall(pattern: string, name: string, reading: Reading): boolean {
  if (reading === 'narrow') return matchesName(pattern, name);
  if (pattern === 'read_file' && name === 'read_many_files') return true;
  return matchesName(pattern.toLowerCase(), name.toLowerCase());
}

/** A rule on files read or written binds every tool that touches the same thing. */
function matchesTarget(
  rule: { tool: string; spec: string },
  target: Target,
  tool: string,
  { reading, paths }: { reading: Reading; paths: PathRules },
): boolean {
  if (target.hidden && reading === 'narrow') return false;
  const kind = kindOfSpec(rule.tool);
  switch (target.type) {
    case 'command':
      return kind === 'command' && matchesCommand(rule.spec, target.words, reading);
    case 'host':
      return kind === 'host' && matchesHost(rule.spec, target, reading);
    case 'path': {
      const isMeant = kind === target.access && (reading === 'wide' || !isSearch(rule.tool) || rule.tool === tool);
      if (!isMeant) return false;
      if (paths.matches(rule.spec, target.path, reading)) return true;
      return target.isTree === true && reading === 'wide' && paths.matchesBelow(rule.spec, target.path);
    }
  }
}

/** Whoever may search a place may not therefore read what is in it. */
function isSearch(tool: string): boolean {
  return tool === 'list_directory' || tool === 'glob' || tool === 'grep_search';
}
