import type { FileGlob } from './file-glob.js';
import { type KnownTree, plainRules } from './known-trees.js';
import { caseFlags, ignoreFilesAbove, type PlainTree, plainTree, walkFlags } from './plain-tree.js';
import { otherProblems } from './ripgrep-error.js';
import { type SearchJob, searchFlags } from './search-job.js';
import { tellingNames } from './secret-files.js';
import { VisiblePaths, visibleComplaints, visibleOutput } from './visible-paths.js';
import { isWholeWalk, WalkNotes } from './walk-notes.js';
import { searchLeft } from './walked-search.js';

/**
 * Searches a tree that was walked before, in files with an extension: this time ripgrep walks it, while we look whether
 * anything has changed that would let it see other files than our rules show. Returns false when the answer cannot be
 * relied on, and then `job.found` is of no use.
 */
export async function searchKnownTree(job: SearchJob): Promise<boolean> {
  const { glob, options } = job;
  const known = options.known?.get(options.path);
  const knowable = known && knowableTree(job);
  if (known === undefined || glob === undefined || known.surroundings !== knowable?.surroundings) return false;
  const left = known.leftOutBy(glob.start);
  if (left === undefined || !(await searchChecked(job, knowable.tree, known))) return false;
  await searchLeft(
    job,
    left.map((path) => ({ path, isDirectory: true })),
  );
  return true;
}

/** What to learn about the tree of a search while it is walked, for the next one; `undefined` when that is of no use. */
export function treeToKnow(job: SearchJob): KnownTree | undefined {
  const knowable = knowableTree(job);
  return knowable && job.options.known?.begin(job.options.path, knowable.surroundings);
}

interface KnowableTree {
  tree: PlainTree;
  /** What has a say in it and is not in it. */
  surroundings: string;
}

/** The tree, if in it only `.gitignore` files have a say, and those above it mean the same to git and to ripgrep. */
function knowableTree(job: SearchJob): KnowableTree | undefined {
  const { options, glob } = job;
  if (options.known === undefined || glob === undefined || !isOfUse(glob)) return undefined;
  const tree = plainTree(job, new WalkNotes());
  if (tree === undefined || !tree.level.isInRepository || tree.level.hasExcludes) return undefined;
  const above = ignoreFilesAbove(options.path).map(plainRules);
  return above.includes(undefined)
    ? undefined
    : { tree, surroundings: JSON.stringify([tree.level.ignoresCase, above]) };
}

/** Of secrets each one that is left out is noted, which a search that does not see their names cannot do. */
function isOfUse({ isByExtension, start }: FileGlob): boolean {
  const names = tellingNames.flatMap((name) => [name, name.toUpperCase(), `${name}.bak`, `${name}.old`, `${name}.1`]);
  return isByExtension && !names.some((name) => start.matches(name));
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

async function search(job: SearchJob, { argument, level }: PlainTree, visible: VisiblePaths): Promise<void> {
  const { ripgrep, options, signal, found, glob } = job;
  const output = visibleOutput(visible, found);
  const complaints = visibleComplaints(visible, found);
  // What matches is taken back in when it is ignored. Of files that is judged again, but no such directory is entered.
  const globs = (glob?.names ?? []).flatMap((name) => [`--glob=${name}`, `--glob=!${name}/`]);
  const without = tellingNames.map((name) => `--glob=!${name}`);
  const flags = [...searchFlags(job), ...globs, ...walkFlags, ...without, ...caseFlags(level)];
  const code = await ripgrep.run([...flags, '-e', options.pattern, '--', argument], {
    signal,
    onOutput: (chunk) => output.push(chunk),
    onError: (chunk) => complaints.push(chunk),
  });
  output.end();
  complaints.checkEnd(code, output);
}
