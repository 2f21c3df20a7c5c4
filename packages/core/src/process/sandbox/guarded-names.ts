import { accessSync, constants, existsSync, lstatSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { parentNames } from '../../files/access/protected-names.js';
import { foldName, protectionOf } from '../../files/access/protected-paths.js';
import { isPlaceholder } from './placeholders.js';
import { firstLink } from './put-aside.js';
import { entriesOf } from './read-entries.js';

/** Names in a workspace that a sandboxed command must not change. */
export interface GuardedNames {
  /** Names that exist; they become read-only. */
  fixed: string[];
  /** Symlinks on the way to protected files. What they lead to stays writable. */
  links: string[];
  /** Missing names, covered by an empty directory. */
  reserved: string[];
  /** Missing names that must not appear; put aside afterwards if they do. */
  forbidden: string[];
}

interface GuardOptions {
  /** Files that must not change or appear, besides those with protected names. */
  protectedFiles: readonly string[];
  /** Names of files at the top that the agent obeys, besides protected names. */
  obeyed: readonly string[];
  /** All of `.git` is read-only. */
  isGitFixed: boolean;
}

/** Protected even before they exist, because Lathe loads them. Each name costs time and shows up in listings. */
const reservedNames = ['.lathe', '.qwen'];

export function guardedNames(root: string, { isGitFixed, protectedFiles, obeyed }: GuardOptions): GuardedNames {
  const isGit = (path: string) => path.endsWith('/.git') && isDirectory(path) && !isGitFixed;
  const found = [...protectedBelow(root), ...obeyedIn(root, obeyed)].filter((path) => !isMissing(path));
  const git = found.filter(isGit).map((path) => gitNames(path));
  const ways = protectedFiles.map((path) => followLinks(path));
  const isBelow = (path: string) => path.startsWith(`${root}/`);
  const files = ways.map(({ path }) => path).filter(isBelow);
  const own = reserve(
    reservedNames.map((name) => join(root, name)),
    found,
  );
  return {
    fixed: [
      ...found.filter((path) => !isGit(path)),
      ...own.fixed,
      ...git.flatMap(({ fixed }) => fixed),
      ...files.filter((path) => !isMissing(path)),
    ],
    reserved: [...own.reserved, ...git.flatMap((names) => names.reserved)].filter((path) =>
      canAccess(dirname(path), constants.W_OK),
    ),
    links: ways.flatMap(({ links }) => links).filter(isBelow),
    forbidden: files.filter(isMissing),
  };
}

/**
 * Guards the names that were not found. Looking at them again would leave out one that appears at this moment. Nothing can
 * be mounted at a symlink that leads nowhere, but the guard watches it.
 */
function reserve(paths: readonly string[], found: readonly string[]): Pick<GuardedNames, 'fixed' | 'reserved'> {
  const missing = paths.filter((path) => !found.includes(path));
  const fixed = missing.filter((path) => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink());
  return { fixed, reserved: missing.filter((path) => !fixed.includes(path)) };
}

function obeyedIn(root: string, obeyed: readonly string[]): string[] {
  const names = new Set(obeyed.filter((name) => protectionOf(join(root, name)) === undefined).map(foldName));
  if (names.size === 0) return [];
  const found = entriesOf(root).filter(({ name }) => names.has(foldName(name)));
  return found.map(({ name }) => join(root, name)).filter((path) => existsSync(path));
}

const maxLinks = 40;

/** The same name in its real directory, and the symlinks on the way to it. The name itself may be one. */
function followLinks(path: string, links: readonly string[] = []): { path: string; links: readonly string[] } {
  const link = firstLink(dirname(path));
  const target = link === undefined ? undefined : targetOf(link);
  if (link === undefined || target === undefined || links.length === maxLinks) return { path, links };
  return followLinks(resolve(dirname(link), target, relative(link, path)), [...links, link]);
}

/** `undefined` if somebody has just removed it. */
function targetOf(link: string): string | undefined {
  try {
    return readlinkSync(link);
  } catch {
    return undefined;
  }
}

function isMissing(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) === undefined || isPlaceholder(path);
}

/** The protected names at the top of a workspace, including those with several segments. */
function protectedBelow(root: string, way = ''): string[] {
  return entriesOf(join(root, way)).flatMap(({ name }) => {
    const path = join(root, way, name);
    if (protectionOf(path) !== undefined) return existsSync(path) ? [path] : [];
    const here = way === '' ? name : `${way}/${name}`;
    return parentNames.has(here.toLowerCase()) && isDirectory(path) ? protectedBelow(root, here) : [];
  });
}

/** Files that git executes, or that redirect git to files elsewhere. Where they are missing, `git-check.ts` finds them. */
const gitPlaces = [
  'hooks',
  'config',
  'config.worktree',
  'commondir',
  'gitdir',
  'info/attributes',
  'info/grafts',
  'objects/info/alternates',
  'objects/info/http-alternates',
  'remotes',
];

/** Commits stay possible; hooks and configuration cannot change, nor those of submodules and linked worktrees. */
function gitNames(path: string): Pick<GuardedNames, 'fixed' | 'reserved'> {
  const names: Pick<GuardedNames, 'fixed' | 'reserved'> = { fixed: [], reserved: [] };
  const directories = [path];
  for (const holder of [join(path, 'modules'), join(path, 'worktrees')].filter(isDirectory)) {
    const budget = { lookups: maxLookups };
    const found = gitDirectoriesBelow(holder, budget);
    if (budget.lookups < 0) names.fixed.push(holder);
    else directories.push(...found);
  }
  for (const directory of directories) {
    const place = (name: string) => join(directory, name);
    const found = gitPlaces.map(place).filter((file) => !isMissing(file) && existsSync(file));
    // A linked worktree uses the hooks of the directory in its `commondir`.
    const hooks = reserve(found.includes(place('commondir')) ? [] : [place('hooks')], found);
    names.fixed.push(...found, ...hooks.fixed);
    names.reserved.push(...hooks.reserved);
  }
  return names;
}

/** Directories of submodules and worktrees to check. If there are more, none of them is writable. */
const maxLookups = 200;
/** Git's own directories, which contain no other git directory. */
const gitData = new Set(['objects', 'refs', 'logs', 'hooks', 'info', 'lfs', 'rr-cache', 'branches']);

function gitDirectoriesBelow(directory: string, budget: { lookups: number }): string[] {
  if (--budget.lookups < 0) return [];
  const entries = entriesOf(directory);
  const isGit = entries.some(({ name }) => name === 'HEAD' || name === 'config');
  const inner = entries
    .filter((entry) => entry.isDirectory() && !(isGit && gitData.has(entry.name)))
    .flatMap(({ name }) => gitDirectoriesBelow(join(directory, name), budget));
  return isGit ? [directory, ...inner] : inner;
}

export function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

export function canAccess(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}

/** Whether no symlink is on the way to a name; the name itself may be one. */
export function isOwn(path: string): boolean {
  return realPathOf(dirname(path)) === dirname(path);
}

export function realPathOf(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}
