import { constants, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, sep } from 'node:path';
import { hasHiddenText } from '../../text/visible-text.js';
import { proposeRules, withoutFlags } from '../rules/propose-rules.js';
import { type ProgramLocation, resolveProgram } from '../run/trusted-path.js';
import {
  type AnalysisMemo,
  type AnalysisOptions,
  type CommandAnalysis,
  type Segment,
  unknownPart,
} from './command-analysis.js';
import { Findings, type PlacedSegment } from './findings.js';
import { canAccess, repositoryDoubt } from './git-repository.js';
import { maxParseCost, ParseBudget } from './parse-word.js';
import { LookupBudget, type PathUse, resolveContents, resolvePathUse, resolveRecorded } from './resolve-paths.js';
import { searchDoubt } from './secret-trees.js';
import { trackedLink } from './tracked-links.js';
import { CommandWalk } from './walk-command.js';

const maxLength = 10_000;
const hardLength = 200_000;
const hardBrackets = 64;
const maxSegments = 50;
const maxPaths = 200;
const maxPrograms = 32;
const tooManyParts = 'It has too many parts to be understood.';

/**
 * Analyzes a command as bash 5 would run it. A command is proven read-only if every simple command in it is a known
 * program with known flags. Whatever is not understood becomes a doubt. Every limit adds a doubt when it is reached.
 *
 * The text is parsed once for each `memo`; what depends on files is looked up each time.
 */
export async function analyzeCommand(
  command: string,
  options: AnalysisOptions,
  memo: AnalysisMemo = {},
): Promise<CommandAnalysis> {
  const parsed = memo.parsed instanceof Findings ? memo.parsed : parseText(command, options);
  memo.parsed = parsed;
  const findings = parsed.copy();
  const { doubts } = findings;
  await resolvePrograms(findings, options);
  await checkRepositories(findings, options.home);
  const searches = await resolveUses(findings.searches, doubts);
  await checkSearches(searches, doubts);
  await checkFollowed(findings);
  await checkBacks(findings);
  const reads = await resolveUses(findings.reads, doubts);
  const redirections = await resolveUses(findings.redirections, doubts);
  const writes = [...new Set([...(await resolveUses(findings.writes, doubts)), ...redirections])];
  const contents = await resolveContents(findings.contents, new Set(searches), doubts);
  const recorded = await resolveRecorded(findings.recorded, doubts);
  const segments = findings.segments.map(withoutPlace);
  const [doubt] = doubts;
  // A segment without words, which no rule can allow, stands for doubts that belong to no single command.
  if (doubt !== undefined) segments.push({ words: [], text: command, isReadOnly: false, why: doubt, hidden: true });
  const asking = segments.filter(({ isReadOnly }) => !isReadOnly);
  return {
    segments,
    reads,
    searches,
    contents,
    recorded,
    writes,
    redirections,
    network: findings.usesNetwork,
    needsNetwork: findings.needsNetwork,
    hosts: [...findings.hosts],
    hasUnnamedHost: findings.hasUnnamedHost,
    offline: [...findings.offline],
    doubts: [...doubts],
    isReadOnly: asking.length === 0 && writes.length === 0 && !findings.usesNetwork,
    rules: doubts.size === 0 && redirections.length === 0 ? proposeRules(asking) : [],
    rootCommand: [...new Set(asking.filter(({ hidden }) => !hidden).map(rootOf))].join(', '),
  };
}

/** What the text says. Text that cannot be parsed becomes one segment that any deny rule may match. */
function parseText(command: string, options: AnalysisOptions): Findings {
  const problem = hostileText(command);
  if (problem !== undefined) return unparsed(command, problem);
  const budget = new ParseBudget();
  try {
    const findings = new CommandWalk(options, budget).run(command);
    if (breaksWord(command))
      findings.unseen(command.slice(0, 200), 'A backslash joins two lines of it in the middle of a word.');
    for (const doubt of findUnusualText(command, options)) findings.doubt(doubt);
    if (findings.segments.length > maxSegments) findings.doubt(`It has more than ${maxSegments} parts.`);
    return findings;
  } catch {
    return unparsed(command, budget.isSpent ? tooManyParts : 'It could not be understood.');
  }
}

function unparsed(command: string, problem: string): Findings {
  const findings = new Findings();
  findings.unseen(command.slice(0, 200), problem);
  return findings;
}

/** Why a text must not reach the parser. */
function hostileText(command: string): string | undefined {
  if (command.length > hardLength) return 'It is too long to be understood.';
  if (openBrackets(command) > hardBrackets) return 'It is nested too deeply to be understood.';
  // For bash this `#` continues the word of a `<(…)`; for the grammar it begins a comment, which is not analyzed.
  if (command.includes(')#')) return 'It has a # right after a bracket.';
  return hasTooManyWords(command) ? tooManyParts : undefined;
}

/** The largest number of open brackets, ignoring quotes: an estimate that keeps hostile text from the parser. */
function openBrackets(command: string): number {
  let [open, most] = [0, 0];
  for (const [bracket] of command.matchAll(/[(){}]/g)) {
    open += bracket === '(' || bracket === '{' ? 1 : -1;
    most = Math.max(most, open);
  }
  return most;
}

/** Whether there are more words than the budget allows, found without the slow grammar. Here-documents are not words. */
function hasTooManyWords(command: string): boolean {
  if (command.includes('<<')) return false;
  return command.replace(/'[^']*'|"[^"]*"/g, '').split(/[\s;&|()<>]+/).length > maxParseCost;
}

function withoutPlace({ words, text, isReadOnly, why, hidden }: PlacedSegment): Segment {
  return { words, text, isReadOnly, ...(why !== undefined && { why }), ...(hidden && { hidden }) };
}

const rootOf = ({ words: [name = ''] }: Segment) => (name.includes(unknownPart) ? '…' : basename(name));

/** Invisible characters, characters that change on the way to the shell, and syntax that a shell may parse differently. */
function findUnusualText(command: string, { isOtherShell }: AnalysisOptions): string[] {
  const found: string[] = [];
  const rich = richSyntax(command);
  if (rich !== undefined) found.push(rich);
  if (isOtherShell) found.push('It is run by another shell than bash.');
  if (command.length > maxLength) found.push(`It is longer than ${maxLength} characters.`);
  if (/[\0\p{Cs}]/u.test(command)) found.push('It contains characters that cannot be passed on.');
  const passed = command.replace(/[\0\p{Cs}]/gu, '');
  if (hasHiddenText(passed) || /[\p{Co}\p{Cn}]/u.test(passed)) found.push('It contains invisible characters.');
  if (/[\p{Zs}\u115f\u1160\u3164\uffa0]/u.test(command.replaceAll(' ', ''))) found.push('It contains unusual spaces.');
  return found;
}

/** A program inside the workspace is never proven. Deny rules are checked against every name of a program. */
async function resolvePrograms({ segments }: Findings, options: AnalysisOptions): Promise<void> {
  const searches = new Map<string, ReturnType<typeof resolveProgram>>();
  const locate = (name: string, cwd: string) => {
    const key = name.includes('/') ? `${cwd}\0${name}` : name;
    const search = searches.get(key) ?? resolveProgram(name, { ...options, cwd });
    searches.set(key, search);
    return search;
  };
  for (const segment of segments.slice()) {
    const [name = ''] = segment.words;
    const cwds = segment.cwds.length > 0 ? segment.cwds : ['/'];
    // A partly known name such as `/usr/bin/c?rl` may be any program, and so may one beyond the limit of lookups.
    const isTooMany = searches.size > maxPrograms;
    if (isTooMany) Object.assign(segment, { isReadOnly: false, why: `it runs more than ${maxPrograms} programs` });
    const isVague = isTooMany || name.includes(unknownPart);
    const aliases = new Set(isVague ? [unknownPart] : [basename(name)]);
    for (const cwd of aliases.has(unknownPart) ? [] : cwds) {
      const place = await locate(name, cwd);
      if (place.file !== undefined) aliases.add(basename(place.file));
      const why = whoseProgram(name, place);
      if (why !== undefined && !segment.isNamed) Object.assign(segment, { isReadOnly: false, why });
    }
    aliases.delete(name);
    const args = segment.words.slice(1);
    const spellings = [
      ...[...aliases].map((alias) => [alias, ...args]),
      ...[name, ...aliases].flatMap((alias) => withoutFlags(alias, args)),
    ];
    segments.push(...spellings.map((words) => hiddenSegment(words, segment.text)));
  }
}

function whoseProgram(name: string, { isInWorkspace, isShim }: ProgramLocation): string | undefined {
  if (isInWorkspace) return `${name} is a program in the workspace`;
  return isShim ? `${name} may be a program that the workspace chooses` : undefined;
}

/** The same command in other words, only for deny and ask rules. */
function hiddenSegment(words: string[], text: string): PlacedSegment {
  return { words, text, isReadOnly: true, hidden: true, cwds: [] };
}

async function checkRepositories(findings: Findings, home: string): Promise<void> {
  const { repositories, workTrees, npmProjects, doubts } = findings;
  // If the command is not proven anyway, the configuration of repositories does not matter.
  if (doubts.size > 0) return;
  const checks = [
    [repositories, repositoryDoubt],
    [workTrees, trackedLink],
    [npmProjects, npmDoubt],
  ] as const;
  for (const [uses, check] of checks) {
    for (const directory of await resolveUses(uses, doubts)) {
      const doubt = await check(directory, home);
      if (doubt !== undefined) doubts.add(`In ${directory}, ${doubt}.`);
    }
  }
}

/** A search through a directory also reads secrets below it that the command does not name. */
async function checkSearches(directories: readonly string[], doubts: Set<string>): Promise<void> {
  if (doubts.size > 0) return;
  for (const directory of directories) {
    const doubt = await searchDoubt(directory);
    if (doubt !== undefined) doubts.add(doubt);
  }
}

/** A command that follows symlinks in a directory reads files that it does not name. */
async function checkFollowed({ followed, doubts }: Findings): Promise<void> {
  if (doubts.size > 0) return;
  for (const path of await resolveUses(followed, doubts)) {
    const info = await stat(path).catch(() => undefined);
    if (info?.isDirectory()) doubts.add(`It follows links inside ${path}.`);
  }
}

/** If the path made by text does not exist, bash follows the symlinks in it instead, and may end up anywhere. */
async function checkBacks({ backs, doubts }: Findings): Promise<void> {
  for (const directory of new Set(backs)) {
    const isThere = await canAccess(directory + sep, constants.X_OK);
    if (!isThere) doubts.add(`${directory} is not a directory, so cd may lead elsewhere.`);
  }
}

async function resolveUses(uses: readonly PathUse[], doubts: Set<string>): Promise<string[]> {
  const distinct = [...new Map(uses.map((use) => [JSON.stringify(use), use])).values()];
  if (distinct.length > maxPaths) doubts.add(`It names more than ${maxPaths} files.`);
  const budget = new LookupBudget();
  const paths = await Promise.all(distinct.slice(0, maxPaths).map((use) => resolvePathUse(use, budget)));
  if (budget.lookups < 0) doubts.add('Its paths and patterns lead to too many files.');
  if (budget.garbled !== undefined) doubts.add(`A name in ${budget.garbled} is not valid UTF-8.`);
  if (budget.flag !== undefined) doubts.add(`The file name ${budget.flag} would be parsed as a flag.`);
  return [...new Set(paths.flat())];
}

/**
 * Why the syntax of a command is too complex to be proven; `undefined` if it is plain. A second check besides the
 * grammar, on the text alone and ignoring quotes: the grammar and bash may parse such text differently, and commands
 * that only read rarely contain it.
 */
function richSyntax(command: string): string | undefined {
  const substitution = command.search(/[$<>]\(/);
  if (substitution !== -1 && /\bcase\b/.test(command.slice(substitution)))
    return 'It has a case inside a substitution.';
  return rich.find(([, pattern]) => pattern.test(command))?.[0];
}

/** A backslash before a line break joins two lines; without a blank before it, it joins two halves of a word or operator. */
function breaksWord(command: string): boolean {
  return /(^|[^ \t])\\\n/.test(command);
}

/** `${name}`, its length, or with a default, a prefix or a suffix that is plain text. */
const plainParameter = String.raw`#?[A-Za-z_]\w*(?:(?::?[-+]|##?|%%?|//?|\^\^?|,,?)[\w./,:=@%+*? $-]*)?\}`;
/** Arithmetic with numbers only. */
const plainArithmetic = String.raw`\([\d\s+*/%<>()-]*\)\)`;

const rich: readonly (readonly [why: string, pattern: RegExp])[] = [
  ['It uses backquotes.', /`/],
  ['It expands a parameter in an unusual way.', new RegExp(String.raw`\$\{(?!${plainParameter})`)],
  ['It calculates with more than numbers.', new RegExp(String.raw`\$(?:\[|\((?=\()(?!${plainArithmetic}))`)],
  ['It has a variable right before a brace.', /\$[A-Za-z_]\w*\{/],
  ['It has a <(…) in the middle of a word.', /[^\s(;|&][<>]\(/],
  ['It has a ~ in or after braces.', /[{},]~/],
];

/** Why npm could write files in this directory: even `npm ls` writes a log where the project's settings say. */
async function npmDoubt(directory: string, home: string): Promise<string | undefined> {
  // npm resolves symlinks and then searches upwards.
  for (let at = await realpath(directory).catch(() => directory); ; at = dirname(at)) {
    const file = join(at, '.npmrc');
    // Settings in the home directory are the user's own.
    if (at !== home && (await canAccess(file))) return `the settings in ${file} can make npm write files`;
    if (at === dirname(at)) return undefined;
  }
}
