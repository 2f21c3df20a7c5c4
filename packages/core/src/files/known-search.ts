import { isPlainIgnoreFile, type KnownTree } from './known-trees.js';
import { caseFlags, ignoreFilesAbove, type PlainTree, plainTree, walkFlags } from './plain-tree.js';
import { binaryMatches, RgOutput } from './rg-output.js';
import { Complaints, otherProblems } from './ripgrep-error.js';
import { type SearchJob, searchFlags } from './search-job.js';
import { tellingNames } from './secret-files.js';
import { fileJudge, VisiblePaths } from './visible-paths.js';
import { unusedIgnoreFiles } from './walk-notes.js';
import { searchLeft } from './walked-search.js';

/**
 * Searches a tree that was walked before, in files with an extension: this time ripgrep walks it, while we look whether
 * anything has changed that would let it see other files than our rules show. Returns false when the answer cannot be
 * relied on, and then `job.found` is of no use.
 */
export async function searchKnownTree(job: SearchJob): Promise<boolean> {
  const { glob, options } = job;
  const known = options.known?.get(options.path);
  if (known === undefined || glob?.isByExtension !== true || tellingNames.some((name) => glob.start.matches(name)))
    return false;
  const tree = plainTree(job);
  if (tree?.level.isInRepository !== true || !ignoreFilesAbove(options.path).every(isPlainIgnoreFile)) return false;
  if (!(await searchChecked(job, tree, known))) return false;
  await searchLeft(
    job,
    known.left.map((path) => ({ path, isDirectory: true })),
  );
  return true;
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
  return !stop.signal.aborted && ![otherProblems, unusedIgnoreFiles].some((kind) => job.found.notes.has(kind));
}

/** The last of ripgrep's globs that matches decides. */
const without = tellingNames.map((name) => `--glob=!${name}`);

async function search(job: SearchJob, { argument, level }: PlainTree, visible: VisiblePaths): Promise<void> {
  const { ripgrep, options, signal, found } = job;
  const isShown = fileJudge(visible);
  const output = new RgOutput(
    (line) => isShown(line.path) && found.add(line),
    (path) => isShown(path) && found.notes.add(binaryMatches, path),
  );
  const complaints = new Complaints(found.notes);
  const flags = [...searchFlags(job), ...walkFlags, '--no-ignore-exclude', ...without, ...caseFlags(level)];
  const code = await ripgrep.run([...flags, '-e', options.pattern, '--', argument], {
    signal,
    onOutput: (chunk) => output.push(chunk),
    onError: (chunk) => complaints.push(chunk),
  });
  output.end();
  complaints.checkEnd(code, output);
}
