import { statSync } from 'node:fs';
import { type BytePath, systemPath } from './byte-path.js';
import type { IgnoreLevel } from './ignore-rules.js';
import { mountsBelow } from './mounts.js';
import { argumentFor } from './rg-batch.js';
import type { SearchJob } from './search-job.js';
import { isSuspect } from './secret-files.js';
import { tempPrefix } from './temp-name.js';
import { unusedIgnoreFiles } from './walk-notes.js';

/** A tree that ripgrep may walk by itself. */
export interface PlainTree {
  /** Its path, as ripgrep is given it. */
  argument: string;
  level: IgnoreLevel;
}

/** The tree to search; `undefined` when there is anything special about it. */
export function plainTree(job: SearchJob): PlainTree | undefined {
  const { path, rules } = job.options;
  const argument = argumentFor(path);
  if (argument === undefined || isSpecialSearch(job) || mountsBelow(path).size > 0 || hasTrapAbove(path))
    return undefined;
  const { notes } = job.found;
  const level = rules.in(path, (file, reason) => notes.add(unusedIgnoreFiles, file, reason));
  const isSpecial = level.ignoredBy === 'agent' || level.hasAgentRules || notes.has(unusedIgnoreFiles);
  return isSpecial ? undefined : { argument, level };
}

function isSpecialSearch({ options, isSecretPlace }: SearchJob): boolean {
  const { path, canRead, isOwnState, disregard = new Set() } = options;
  if (canRead !== undefined || isOwnState !== undefined || disregard.size > 0) return true;
  if (isSecretPlace || isSuspect(`${path}/`)) return true;
  // In the directory of a repository itself, no rules hold.
  if (`${path}/`.includes('/.git/')) return true;
  return process.platform === 'win32' || path === '/' || path.includes('\n');
}

function hasTrapAbove(path: BytePath): boolean {
  for (let slash = path.lastIndexOf('/'); slash >= 0; slash = slash === 0 ? -1 : path.lastIndexOf('/', slash - 1))
    if (hasTrap(path.slice(0, slash + 1))) return true;
  return false;
}

/** Ripgrep opens the `.gitignore` of every directory, in a repository or not; one that is a pipe, it waits for. */
export function hasTrap(directory: BytePath): boolean {
  try {
    return statSync(systemPath(`${directory}.gitignore`), { throwIfNoEntry: false })?.isFile() === false;
  } catch {
    return true;
  }
}

/** How ripgrep walks a tree: as our rules do, as far as it can. */
export const walkFlags = [
  '--hidden',
  '--no-ignore-dot',
  '--no-ignore-global',
  '--no-ignore-messages',
  '--glob=!.git',
  `--glob=!${tempPrefix}*`,
];

export const nothingAbove = '--no-ignore-parent';
export const noExcludes = '--no-ignore-exclude';

export function caseFlags({ ignoresCase }: Pick<IgnoreLevel, 'ignoresCase'>): string[] {
  return ignoresCase ? ['--ignore-file-case-insensitive'] : [];
}
