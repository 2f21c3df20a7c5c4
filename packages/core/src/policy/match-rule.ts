import { basename } from 'node:path';
import type { Target } from '../contract/target.js';
import { matchCommandRule } from '../process/rules/command-rule.js';
import { isExactRule } from '../process/rules/exact-rule.js';
import { matchesHost } from './match-host.js';
import { matchesName } from './match-name.js';
import type { PathRules } from './match-path.js';
import type { Reading } from './reading.js';
import { kindOfSpec, type Rule } from './rule.js';

/** The part of a call that a rule covers: all of it, or some of its targets. */
export type Coverage = 'all' | readonly Target[];

export function coverage(
  rule: Rule,
  call: { tool: string; targets: readonly Target[] },
  reading: Reading,
  paths: PathRules,
): Coverage {
  const { tool, spec } = rule;
  if (spec === undefined) return namesCall(tool, call.tool, reading) ? 'all' : [];
  // The tool takes no specification, so a rule that forbids a part of it forbids all of it.
  if (kindOfSpec(tool) === undefined) return reading === 'wide' && namesCall(tool, call.tool, reading) ? 'all' : [];
  return call.targets.filter((target) => matchesTarget({ tool, spec }, target, call.tool, { reading, paths }));
}

/** True when a deny rule is about reading files. */
export function forbidsReading({ tool, spec }: Rule): boolean {
  return spec !== undefined && kindOfSpec(tool) === 'read';
}

/** True for a rule about reading whose last name, without wildcards, is that of the file. */
export function namesFile(rule: Rule, path: string): rule is Rule & { spec: string } {
  if (rule.spec === undefined || kindOfSpec(rule.tool) !== 'read' || isSearch(rule.tool)) return false;
  const isPlain = !/[*?[{]/.test(rule.spec.replace(/\\./g, ''));
  return isPlain && rule.spec.replace(/\\(.)/g, '$1').split('/').at(-1) === basename(path);
}

function namesCall(pattern: string, name: string, reading: Reading): boolean {
  if (reading === 'narrow') return matchesName(pattern, name);
  if (pattern === 'read_file' && name === 'read_many_files') return true;
  return matchesName(pattern.toLowerCase(), name.toLowerCase());
}

/** A rule about reading or writing files applies to every tool that touches the file. */
function matchesTarget(
  rule: { tool: string; spec: string },
  target: Target,
  tool: string,
  { reading, paths }: { reading: Reading; paths: PathRules },
): boolean {
  const kind = kindOfSpec(rule.tool);
  if (kind === 'command' && isExactRule(rule.spec)) return target.exact === rule.spec;
  if (target.hidden && reading === 'narrow') return false;
  switch (target.type) {
    case 'command':
      return kind === 'command' && matchesCommand(rule.spec, target.words, reading);
    case 'host':
      return kind === 'host' && matchesHost(rule.spec, target, reading);
    case 'path':
      return matchesPath(rule, target, tool, { reading, paths });
  }
}

function matchesPath(
  rule: { tool: string; spec: string },
  target: Extract<Target, { type: 'path' }>,
  tool: string,
  { reading, paths }: { reading: Reading; paths: PathRules },
): boolean {
  const isAbout =
    kindOfSpec(rule.tool) === target.access && (reading === 'wide' || !isSearch(rule.tool) || rule.tool === tool);
  if (!isAbout) return false;
  if (paths.matches(rule.spec, target.path, reading)) return true;
  if (reading === 'wide' && target.alias !== undefined && paths.matches(rule.spec, target.alias, reading)) return true;
  return target.isTree === true && reading === 'wide' && paths.matchesBelow(rule.spec, target.path);
}

/** Permission to search a place does not include reading the files in it. */
function isSearch(tool: string): boolean {
  return tool === 'list_directory' || tool === 'glob' || tool === 'grep_search';
}

/**
 * A narrow match must be certain. A wide match also counts if it is possible, and compares a program by its last name
 * too, so that denying `curl` also denies `/usr/bin/curl`.
 */
function matchesCommand(spec: string, words: readonly string[], reading: Reading): boolean {
  if (reading === 'narrow') return matchCommandRule(spec, words) === 'yes';
  const [program = '', ...rest] = words;
  return matchCommandRule(spec, words) !== 'no' || matchCommandRule(spec, [basename(program), ...rest]) !== 'no';
}
