import { basename } from 'node:path';
import { type AnalysisOptions, type CommandAnalysis, type Segment, unknownPart } from './command-analysis.js';
import { proposeRules } from './command-rule.js';
import type { Findings, PlacedSegment } from './findings.js';
import { repositoryDoubt } from './git-repository.js';
import { parseCommand } from './parse-command.js';
import { resolveProgram } from './resolve-program.js';
import { type PathUse, settlePath } from './settle-paths.js';
import { CommandWalk } from './walk-command.js';

const maxLength = 10_000;
const hardLength = 200_000;
const maxSegments = 50;
const maxPaths = 200;

/**
 * Understands a command as bash 5 would run it. A command is proven read-only when every simple command in it is a
 * known program with known flags; whatever is not understood becomes a doubt, and limits only ever add doubts.
 */
export async function analyzeCommand(command: string, options: AnalysisOptions): Promise<CommandAnalysis> {
  if (command.length > hardLength) return refused(command, 'It is too long to be understood.');
  const findings = new CommandWalk(options).run(parseCommand(command));
  const { doubts } = findings;
  for (const doubt of oddities(command)) doubts.add(doubt);
  if (findings.segments.length > maxSegments) doubts.add(`It has more than ${maxSegments} parts.`);
  await resolvePrograms(findings, options);
  await checkRepositories(findings);
  const reads = await settle(findings.reads, doubts);
  const redirections = await settle(findings.redirections, doubts);
  const writes = [...new Set([...(await settle(findings.writes, doubts)), ...redirections])];
  const segments = findings.segments.map(withoutPlace);
  const [doubt] = doubts;
  // A segment without words, which no rule can allow, asks for what is not tied to one command.
  if (doubt !== undefined) segments.push({ words: [], text: command, isReadOnly: false, why: doubt, hidden: true });
  const asking = segments.filter(({ isReadOnly }) => !isReadOnly);
  return {
    segments,
    reads,
    writes,
    redirections,
    network: findings.usesNetwork,
    hosts: [...findings.hosts],
    doubts: [...doubts],
    isReadOnly: asking.length === 0 && writes.length === 0 && !findings.usesNetwork,
    rules: doubts.size === 0 && redirections.length === 0 ? proposeRules(asking) : [],
    rootCommand: [...new Set(asking.filter(({ hidden }) => !hidden).map(rootOf))].join(', '),
  };
}

function refused(command: string, doubt: string): CommandAnalysis {
  const segment = { words: [unknownPart], text: command.slice(0, 200), isReadOnly: false, why: doubt, hidden: true };
  const nothing = { reads: [], writes: [], redirections: [], network: false, hosts: [], rules: [], rootCommand: '' };
  return { ...nothing, segments: [segment], doubts: [doubt], isReadOnly: false };
}

function withoutPlace({ words, text, isReadOnly, why, hidden }: PlacedSegment): Segment {
  return { words, text, isReadOnly, ...(why !== undefined && { why }), ...(hidden && { hidden }) };
}

const rootOf = ({ words: [name = ''] }: Segment) => (name.includes(unknownPart) ? '…' : basename(name));

/** Characters that a person cannot see, or that reach bash as something else. */
function oddities(command: string): string[] {
  const found: string[] = [];
  if (command.length > maxLength) found.push(`It is longer than ${maxLength} characters.`);
  if (/[\0\p{Cs}]/u.test(command)) found.push('It contains characters that cannot be passed on.');
  if (/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}]/u.test(command.replace(/[\t\n\0]/g, '')))
    found.push('It contains invisible characters.');
  if (/[\p{Zs}\u115f\u1160\u3164\uffa0]/u.test(command.replaceAll(' ', ''))) found.push('It contains unusual spaces.');
  return found;
}

/** A program inside the workspace is never proven; every name of a program is shown to deny rules. */
async function resolvePrograms({ segments }: Findings, options: AnalysisOptions): Promise<void> {
  const known = new Map<string, ReturnType<typeof resolveProgram>>();
  for (const segment of segments.slice()) {
    const [name = '', ...args] = segment.words;
    if (name.includes(unknownPart) || name === '') continue;
    const cwds = name.includes('/') ? segment.cwds : segment.cwds.slice(0, 1);
    for (const cwd of cwds.length > 0 ? cwds : ['/']) {
      const key = name.includes('/') ? `${cwd}\0${name}` : name;
      const search = known.get(key) ?? resolveProgram(name, { ...options, cwd });
      known.set(key, search);
      const { file, isInWorkspace } = await search;
      if (isInWorkspace && segment.isReadOnly) {
        Object.assign(segment, { isReadOnly: false, why: `${name} is a program in the workspace` });
      }
      const aliases = new Set([basename(name), ...(file ? [basename(file)] : [])]);
      aliases.delete(name);
      for (const alias of aliases) {
        segments.push({
          words: [alias, ...args],
          text: segment.text,
          isReadOnly: segment.isReadOnly,
          hidden: true,
          cwds: [],
        });
      }
    }
  }
}

async function checkRepositories({ repositories, doubts }: Findings): Promise<void> {
  const directories = new Set((await Promise.all(repositories.slice(0, maxPaths).map(settlePath))).flat());
  for (const directory of directories) {
    const doubt = await repositoryDoubt(directory);
    if (doubt !== undefined) doubts.add(`In ${directory}, ${doubt}.`);
  }
}

async function settle(uses: readonly PathUse[], doubts: Set<string>): Promise<string[]> {
  if (uses.length > maxPaths) doubts.add(`It names more than ${maxPaths} files.`);
  return [...new Set((await Promise.all(uses.slice(0, maxPaths).map(settlePath))).flat())];
}
