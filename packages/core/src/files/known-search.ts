import { lstatSync } from 'node:fs';
import { systemPath } from './byte-path.js';
import type { FileGlob } from './file-glob.js';
import type { KnownTree } from './known-trees.js';
import { caseFlags, type PlainTree, plainTree, walkFlags } from './plain-tree.js';
import { backupEnding } from './protected-paths.js';
import { otherProblems } from './ripgrep-error.js';
import { type SearchJob, searchFlags } from './search-job.js';
import { tellingNames } from './secret-files.js';
import { VisiblePaths, visibleComplaints, visibleOutput } from './visible-paths.js';
import { isWholeWalk, WalkNotes } from './walk-notes.js';
import { searchLeft } from './walked-search.js';

/**
 * Searches a repository that was walked before, in files with an extension: this time ripgrep walks it, while we look
 * whether anything has changed that would let it see other files than our rules show. Returns false when the answer
 * cannot be relied on, and then `job.found` is of no use.
 */
export async function searchKnownTree(job: SearchJob): Promise<boolean> {
  const known = job.options.known?.get(job.options.path);
  const tree = known && knowableTree(job);
  if (known === undefined || tree === undefined || known.ignoresCase !== tree.level.ignoresCase) return false;
  if (!(await searchChecked(job, tree, known))) return false;
  await searchLeft(
    job,
    known.telling.map((path) => ({ path, isDirectory: true })),
  );
  return true;
}

/** What to learn about the tree of a search while it is walked, for the next one; `undefined` when that is of no use. */
export function treeToKnow(job: SearchJob): KnownTree | undefined {
  const tree = knowableTree(job, new WalkNotes());
  return tree && job.options.known?.begin(job.options.path, tree.level);
}

/** The tree, if it is all of a repository, and only the `.gitignore` files in it have a say. */
function knowableTree(job: SearchJob, notes = job.found.notes): PlainTree | undefined {
  const { glob, options } = job;
  if (options.known === undefined || glob === undefined || !isOfUse(glob)) return undefined;
  const git = lstatSync(systemPath(`${options.path}/.git`), { throwIfNoEntry: false });
  const tree = git?.isDirectory() === true ? plainTree(job, notes) : undefined;
  const repository = tree?.level.repository;
  return repository?.directory === `${options.path}/` && !repository.hasExcludes ? tree : undefined;
}

/** Each secret that is left out is noted, which a search that does not see their names cannot do. */
function isOfUse({ isByExtension, names = [] }: FileGlob): boolean {
  return isByExtension && !names.some((name) => mayEndSecret(name.slice(1).toLowerCase()));
}

function mayEndSecret(ending: string): boolean {
  return backupEnding.test(ending) || tellingNames.some((name) => name.endsWith(ending));
}

async function searchChecked(job: SearchJob, tree: PlainTree, known: KnownTree): Promise<boolean> {
  const visible = new VisiblePaths(job.options.path, tree.level);
  const stop = new AbortController();
  const signal = AbortSignal.any([job.signal, stop.signal]);
  const searching = search({ ...job, signal }, tree, visible);
  const checking = known.isUnchanged(visible, signal).then((isUnchanged) => isUnchanged || stop.abort());
  try {
    await Promise.all([searching, checking]);
  } catch {
    stop.abort();
    await Promise.allSettled([searching, checking]);
    job.signal.throwIfAborted();
  }
  const { notes } = job.found;
  return !stop.signal.aborted && !notes.has(otherProblems) && isWholeWalk(notes);
}

/** A repository is the whole world here. */
const onlyInside = ['--no-ignore-parent', '--no-ignore-exclude'];
const withoutTelling = tellingNames.map((name) => `--glob=!${name}`);

async function search(job: SearchJob, { argument, level }: PlainTree, visible: VisiblePaths): Promise<void> {
  const { ripgrep, options, signal, found, glob } = job;
  const output = visibleOutput(visible, found);
  const complaints = visibleComplaints(visible, found);
  // A type of files: unlike `--glob`, it takes nothing back that an ignore file hides.
  const types = [...(glob?.names ?? []).map((name) => `--type-add=wanted:${name}`), '--type=wanted'];
  const flags = [...searchFlags(job), ...types, ...walkFlags, ...onlyInside, ...withoutTelling, ...caseFlags(level)];
  const code = await ripgrep.run([...flags, '-e', options.pattern, '--', argument], {
    signal,
    onOutput: (chunk) => output.push(chunk),
    onError: (chunk) => complaints.push(chunk),
  });
  output.end();
  complaints.checkEnd(code, output);
}
