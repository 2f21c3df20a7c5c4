import { execFile } from 'node:child_process';
import { lstat, readFile, realpath } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { Target } from '../../contract/target.js';
import { mayBeSensitive, sensitivityOf } from '../../files/access/protected-paths.js';
import { isWithin } from '../../files/workspace.js';
import { repositoryDoubt } from './git-repository.js';
import { indexPaths } from './tracked-links.js';

/** Content that git shows as the repository has it. */
export interface RecordedTree {
  /** The top of the work tree. */
  workTree: string;
  /** A file or directory in it: only this, and what is below. */
  path: string;
  /** Files that are gone may be among them. */
  isPast: boolean;
}

/** How long, and how much text, a look through the history may take; beyond that a person is asked. */
const maxHistoryMs = 3000;
const maxHistoryBytes = 16 * 1024 * 1024;

const run = promisify(execFile);

/** The work tree around a directory; `undefined` when there is none. */
export async function workTreeOf(directory: string): Promise<string | undefined> {
  for (let at = await realpath(directory).catch(() => resolve(directory)); ; at = dirname(at)) {
    if (await lstat(join(at, '.git')).catch(() => undefined)) return at;
    if (at === dirname(at)) return undefined;
  }
}

/** Absolute paths of the tracked files; `undefined` if they cannot be listed. */
export async function trackedFiles(workTree: string): Promise<string[] | undefined> {
  const index = await readFile(join(workTree, '.git', 'index')).catch((error: NodeJS.ErrnoException) => error.code);
  // Nothing is tracked yet.
  if (index === 'ENOENT') return [];
  const names = Buffer.isBuffer(index) ? indexPaths(index) : undefined;
  return names?.map((name) => join(workTree, name));
}

/**
 * Absolute paths of all files in the history of a repository, those that are gone included; `undefined` if it is too
 * long to look through, or its configuration could make git run a program.
 */
async function pastFiles(workTree: string, env: Readonly<Record<string, string>>): Promise<string[] | undefined> {
  if ((await repositoryDoubt(workTree)) !== undefined) return undefined;
  const flags = ['--all', '--reflog', '--name-only', '--format=', '-z', '-c', '--no-renames', '--no-ext-diff'];
  try {
    const { stdout } = await run('git', ['--no-pager', '-c', 'log.showRoot=true', 'log', ...flags], {
      cwd: workTree,
      env: { ...env, GIT_OPTIONAL_LOCKS: '0', GIT_NO_LAZY_FETCH: '1' },
      timeout: maxHistoryMs,
      maxBuffer: maxHistoryBytes,
      killSignal: 'SIGKILL',
    });
    const names = new Set(stdout.split('\0').map((name) => name.replace(/^\n+/, '')));
    return [...names].filter((name) => name !== '').map((name) => join(workTree, name));
  } catch {
    // Before the first commit there is nothing to show.
    return undefined;
  }
}

interface RecordedOptions {
  isRestricted: ((path: string) => boolean) | undefined;
  /** For the git that looks through the history. */
  env: Readonly<Record<string, string>>;
}

/** How many files are named. */
const maxNamed = 20;

/**
 * The files that a git command may show and that matter to permission rules: those that a rule restricts, and those that
 * may hold keys. What cannot be looked through asks, but only if there are rules.
 */
export async function recordedTargets(
  { workTree, path, isPast }: RecordedTree,
  { isRestricted, env }: RecordedOptions,
): Promise<Target[]> {
  const tracked = await trackedFiles(workTree);
  const past = isPast && isRestricted ? await pastFiles(workTree, env) : [];
  const isUnknown = tracked === undefined || past === undefined;
  const files = new Set([path, ...(tracked ?? []), ...(past ?? [])]);
  const matters = [...files].filter((file) => isWithin(path, file) && (isRestricted?.(file) || isSensitive(file)));
  const targets = matters.slice(0, maxNamed).map((file): Target => {
    const why = isSensitive(file) ? { sensitive: `${relative(workTree, file)} may hold keys or passwords` } : {};
    return { type: 'path', access: 'read', path: file, asks: false, hidden: true, ...why };
  });
  if (!isUnknown || !isRestricted || targets.some((target) => target.type === 'path' && isRestricted(target.path)))
    return targets;
  const guarded = `It may show files that a rule restricts: what ${workTree} has recorded is too much to look through.`;
  return [...targets, { type: 'path', access: 'read', path, asks: true, hidden: true, guarded }];
}

/** A file that is gone has only its name. */
function isSensitive(file: string): boolean {
  const name = file.slice(file.lastIndexOf('/') + 1);
  return mayBeSensitive(name) && (sensitivityOf(file) !== undefined || name.startsWith('.env'));
}
