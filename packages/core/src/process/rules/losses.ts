import { type Dirent, existsSync, lstatSync } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { isWithin } from '../../files/workspace.js';
import { nameSet } from '../programs/name-set.js';
import { type CommandAnalysis, unknownPart } from '../shell/command-analysis.js';
import { withoutFlags } from './propose-rules.js';

export interface LossContext {
  /** The directories of the workspace. */
  roots: readonly string[];
  /** Whether git ignores a path. Such files are in no snapshot. */
  isIgnored: (path: string, kind: { isDirectory: boolean }) => boolean;
  /** A larger file is in no snapshot. */
  maxBytes: number;
}

/**
 * Why `/rewind` could not bring back what a command removes: snapshots contain neither ignored and large files nor
 * repositories, neither their own data nor the files in one below the workspace.
 * `undefined` if it could, as far as the text of the command tells. A program can remove files without saying so.
 */
export async function lossOf(
  { segments, writes, redirections }: Pick<CommandAnalysis, 'segments' | 'writes' | 'redirections'>,
  context: LossContext,
): Promise<string | undefined> {
  const names = new Set<string>();
  for (const segment of segments) {
    const loss = lossByText(segment);
    if (loss !== undefined) return loss;
    const name = basename(segment.words[0] ?? '');
    if (removers.has(name) || replacers.has(name)) names.add(name);
  }
  // What leaves the workspace is gone with the session. Otherwise a directory that is named is where files go.
  const leaves = names.has('mv') && writes.some((path) => !context.roots.some((root) => isWithin(root, path)));
  const isOnlyFiles = ![...names].some((name) => removers.has(name)) && !leaves;
  for (const path of names.size > 0 ? writes : redirections) {
    if (isOutput.test(path) && (isOnlyFiles || redirections.includes(path))) continue;
    const loss = await lossAt(path, context, { isOnlyFiles });
    if (loss !== undefined) return loss;
  }
  return undefined;
}

/** What the words of one command alone tell. */
function lossByText({ words, isReadOnly }: CommandAnalysis['segments'][number]): string | undefined {
  const [program = '', ...args] = words;
  const name = basename(program);
  if (name === 'git' && !isReadOnly && !keepsAll(args)) return `git ${subcommand(args)} ${cannotBeRewound}`;
  if (name === 'find' && args.includes('-delete')) return `find -delete ${cannotBeRewound}`;
  if (removers.has(name) && args.some((word) => word.includes(unknownPart) || word === '{}'))
    return `What ${name} removes is only known when it runs.`;
  return undefined;
}

const cannotBeRewound = 'may remove what /rewind cannot bring back.';
const removers = nameSet('rm rmdir unlink shred srm');
/** They replace a file that they name, or its content. Redirections do so too. */
const replacers = nameSet('mv cp dd install ln link truncate tee sed perl sort uniq xxd git');
/** Files in which one run replaces the output of the run before. */
const isOutput = /\.(log|out|err|tmp|pid)$/;

/** Directories that a build or an installation makes again. */
const remade = nameSet(
  'node_modules dist build out target coverage .next .nuxt .svelte-kit .turbo .parcel-cache .cache .nyc_output __pycache__ ' +
    '.pytest_cache .mypy_cache .ruff_cache .tox .venv venv .gradle .dart_tool _build deps obj',
);

/** How many files of a removed directory are compared with the ignore rules. */
const maxEntries = 5_000;

async function lossAt(
  path: string,
  context: LossContext,
  { isOnlyFiles }: { isOnlyFiles: boolean },
): Promise<string | undefined> {
  const { roots, isIgnored } = context;
  if (!isOnlyFiles && roots.some((root) => isWithin(path, root))) return 'It removes the workspace.';
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
  // If another repository ignores the workspace, all its files are ignored.
  if (isOnlyFiles && (isDirectory || isIgnored(root, { isDirectory: true }))) return undefined;
  if (isIgnored(path, { isDirectory })) return ignored(relative(root, path));
  const inner = repositoryAround(path, root);
  if (inner !== undefined) return unkept(relative(root, path), `${relative(root, inner)} is a repository of its own`);
  if (isDirectory) return lossBelow(path, root, context);
  return info.size > context.maxBytes ? tooLarge(relative(root, path)) : undefined;
}

/** The nearest repository below the workspace that a file is in. */
function repositoryAround(path: string, root: string): string | undefined {
  for (let at = dirname(path); at !== root && isWithin(root, at); at = dirname(at))
    if (existsSync(join(at, '.git'))) return at;
  return undefined;
}

async function lossBelow(
  directory: string,
  root: string,
  { isIgnored, maxBytes }: LossContext,
): Promise<string | undefined> {
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
      if (entry.name === '.git') return unkept(relative(root, at), 'it is a repository of its own');
      if (isIgnored(path, { isDirectory })) return ignored(relative(root, path));
      if (isDirectory) directories.push(path);
      else if ((lstatSync(path, { throwIfNoEntry: false })?.size ?? 0) > maxBytes)
        return tooLarge(relative(root, path));
    }
  }
  return undefined;
}

const unkept = (path: string, why: string) => `/rewind cannot bring back ${path}, because ${why}.`;
const ignored = (path: string) => unkept(path, 'git ignores it');
const tooLarge = (path: string) => unkept(path, 'it is too large');

const subcommand = (args: readonly string[]) => args.find((word) => !word.startsWith('-')) ?? '';

/** Subcommands of git that lose nothing, whatever follows. What they do to tracked files can be rewound. */
const keeping = nameSet(
  'add am apply archive cherry-pick clone commit config diff fetch format-patch init log ls-remote merge notes pull push rebase remote ' +
    'restore revert rm show sparse-checkout status update-index',
);
/** Other subcommands, and the flags with which they remove neither ignored files nor commits nor refs. */
const keepingFlags: Readonly<Record<string, RegExp>> = {
  branch: /^-[amruv]+$|^--(all|copy|list|move|remotes|set-upstream-to(=.*)?|show-current|track|unset-upstream)$/,
  checkout: /^-[bdlmpqt]*$|^--(detach|merge|no-track|orphan|ours|patch|quiet|theirs|track)?$/,
  clean: /^-[dinq]*f?[dinq]*$|^--dry-run$/,
  gc: /^(-q|--auto|--quiet)$/,
  mv: /^-[knv]+$|^--(dry-run|verbose)?$/,
  reset: /^-[Npq]+$|^--(mixed|patch|quiet|soft)?$/,
  stash: /^-[kqu]+$|^-m$|^--(include-untracked|index|keep-index|message(=.*)?|patch|quiet|staged)?$/,
  submodule: /^--(init|quiet|recursive)$/,
  switch: /^-[cdmqt]*$|^--(create|detach|merge|orphan|quiet|track)$/,
  tag: /^-[almns]+\d*$|^--(annotate|list|message(=.*)?|sort=.*)$/,
  worktree: /^-[bdq]+$|^--(detach|lock|porcelain|quiet)$/,
};
/** Their actions that remove something. */
const removing = /^(stash (drop|clear)|submodule deinit|worktree (remove|prune))$/;

function keepsAll(args: readonly string[]): boolean {
  const [, name = '', ...rest] = withoutFlags('git', args).at(-1) ?? ['git', ...args];
  if (keeping.has(name)) return true;
  const flags = Object.hasOwn(keepingFlags, name) ? keepingFlags[name] : undefined;
  const given = rest.filter((word) => word.startsWith('-'));
  if (flags === undefined || removing.test(`${name} ${rest[0]}`)) return false;
  // Twice, it also removes other repositories.
  const isForced = name === 'clean' && given.filter((flag) => flag.includes('f')).length > 1;
  return given.every((flag) => flags.test(flag)) && !isForced;
}
