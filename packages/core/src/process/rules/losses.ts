import type { Dirent } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { basename, join, relative, sep } from 'node:path';
import { isWithin } from '../../files/workspace.js';
import { nameSet } from '../programs/name-set.js';
import { type CommandAnalysis, unknownPart } from '../shell/command-analysis.js';

export interface LossContext {
  /** The directories of the workspace. */
  roots: readonly string[];
  /** Whether git ignores a path. Such files are in no snapshot. */
  isIgnored: (path: string, kind: { isDirectory: boolean }) => boolean;
}

/**
 * Why `/rewind` could not bring back what a command removes: snapshots contain neither ignored files nor git's own data.
 * `undefined` if it could, as far as the text of the command tells. A program can remove files without saying so.
 */
export async function lossOf(
  { segments, writes }: Pick<CommandAnalysis, 'segments' | 'writes'>,
  context: LossContext,
): Promise<string | undefined> {
  let removes = false;
  for (const { words } of segments) {
    const [program = '', ...args] = words;
    const name = basename(program);
    if (name === 'git' && losesInGit(args)) return `git ${subcommand(args)} ${cannotBeRewound}`;
    if (name === 'find' && args.includes('-delete')) return `find -delete ${cannotBeRewound}`;
    if (!removers.has(name)) continue;
    if (args.some((word) => word.includes(unknownPart) || word === '{}'))
      return `What ${name} removes is only known when it runs.`;
    removes = true;
  }
  if (!removes) return undefined;
  for (const path of writes) {
    const loss = await lossAt(path, context);
    if (loss !== undefined) return loss;
  }
  return undefined;
}

const cannotBeRewound = 'removes what /rewind cannot bring back.';
const removers = nameSet('rm rmdir unlink shred srm');

/** Directories that a build or an installation makes again. */
const remade = nameSet(
  'node_modules dist build out target coverage .next .nuxt .svelte-kit .turbo .parcel-cache .cache .nyc_output __pycache__ ' +
    '.pytest_cache .mypy_cache .ruff_cache .tox .venv venv .gradle .dart_tool _build deps obj',
);

/** How many files of a removed directory are compared with the ignore rules. */
const maxEntries = 5_000;

async function lossAt(path: string, context: LossContext): Promise<string | undefined> {
  const { roots, isIgnored } = context;
  if (roots.some((root) => isWithin(path, root))) return 'It removes the workspace.';
  const root = roots.find((candidate) => isWithin(candidate, path));
  // Places outside ask anyway.
  if (
    root === undefined ||
    relative(root, path)
      .split(sep)
      .some((name) => remade.has(name))
  )
    return undefined;
  const info = await lstat(path).catch(() => undefined);
  if (info === undefined) return undefined;
  const isDirectory = info.isDirectory();
  if (isIgnored(path, { isDirectory })) return unkept(relative(root, path));
  return isDirectory ? lossBelow(path, root, context) : undefined;
}

async function lossBelow(directory: string, root: string, { isIgnored }: LossContext): Promise<string | undefined> {
  const directories = [directory];
  let left = maxEntries;
  // The list grows while it is walked.
  for (const at of directories) {
    const entries = await readdir(at, { withFileTypes: true }).catch((): Dirent[] => []);
    left -= entries.length;
    if (left < 0)
      return `${relative(root, directory)} has too many files to tell whether /rewind could bring them back.`;
    for (const entry of entries.filter(({ name }) => !remade.has(name))) {
      const path = join(at, entry.name);
      const isDirectory = entry.isDirectory();
      if (entry.name === '.git' || isIgnored(path, { isDirectory })) return unkept(relative(root, path));
      if (isDirectory) directories.push(path);
    }
  }
  return undefined;
}

const unkept = (path: string) => `/rewind cannot bring back ${path}, because git ignores it.`;

const subcommand = (args: readonly string[]) => args.find((word) => !word.startsWith('-')) ?? '';

/** Subcommands of git that remove ignored files, commits or refs. What only changes tracked files can be rewound. */
function losesInGit(args: readonly string[]): boolean {
  const text = args.join(' ');
  return [
    /\bclean\b.* (-\w*[xX]|-\w*f\w*f|-\w*f.* -\w*f)/,
    /\breset\b.* --hard/,
    /\b(stash (drop|clear)|reflog (delete|expire)|worktree remove|submodule deinit|symbolic-ref|update-ref)\b/,
    /\b(prune|filter-branch|filter-repo|replace)\b|\bgc\b.* --prune/,
    /\bbranch\b.* (-\w*[dDMCf]|--delete|--force)/,
    /\btag\b.* (-\w*[df]|--delete|--force)/,
  ].some((pattern) => pattern.test(text));
}
