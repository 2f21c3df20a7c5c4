import { relative } from 'node:path';
import type { Target } from '../../contract/target.js';
import { mayBeSensitive, sensitivityOf } from '../../files/access/sensitive-files.js';
import { isWithin } from '../../files/workspace.js';
import { pastFiles, type RecordedTree, trackedFiles } from './recorded-files.js';

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
export async function recordedTargets(trees: readonly RecordedTree[], options: RecordedOptions): Promise<Target[]> {
  const targets = await Promise.all(trees.map((tree) => targetsIn(tree, options)));
  return targets.flat();
}

async function targetsIn({ workTree, path, isPast }: RecordedTree, options: RecordedOptions): Promise<Target[]> {
  const { isRestricted, env } = options;
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
