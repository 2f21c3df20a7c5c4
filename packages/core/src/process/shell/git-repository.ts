import { existsSync, type Stats } from 'node:fs';
import { access, constants, lstat, readdir, readFile, realpath, stat } from 'node:fs/promises';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { isWithin } from '../../files/workspace.js';
import { type ConfigPlaces, readConfigs, sharedConfigs } from './git-config.js';

/**
 * Why even a read-only git command could run a program in this directory, or show files from elsewhere; `undefined` if it
 * could not. A workspace may bring its own repository, whose configuration can make git run programs. Any irregularity is
 * a reason, because git may ignore such a repository and find another one.
 */
export async function repositoryDoubt(directory: string, home?: string): Promise<string | undefined> {
  try {
    // git resolves symlinks and then searches upwards.
    for (let at = await realpath(directory).catch(() => directory); ; at = dirname(at)) {
      const entry = await lookUp(join(at, '.git'));
      if (entry) return await doubtIn(at, entry, home);
      if (await looksLikeGitDirectory(at)) return `${at} itself looks like a repository`;
      if (at === dirname(at)) return undefined;
    }
  } catch {
    return "the repository's configuration cannot be read";
  }
}

/** The worktrees that this process made: they read the objects of the repository they are copies of, as they should. */
export const ownWorktrees = new Set<string>();

/** The repository around a directory. */
export interface EnclosingRepository {
  workTree: string;
  /** Missing when the repository is irregular or uses objects from elsewhere. */
  own?: { index: string; objects: string; info: string };
}

/** The repository that git would use in this directory; `undefined` if there is none. Reads none of its configuration. */
export async function enclosingRepository(directory: string): Promise<EnclosingRepository | undefined> {
  for (let at = await realpath(directory); ; at = dirname(at)) {
    const entry = await lookUp(join(at, '.git')).catch(() => undefined);
    if (entry) return { workTree: at, ...(await ownParts(at, entry).catch(() => undefined)) };
    if (at === dirname(at)) return undefined;
  }
}

/**
 * The directories of hooks and the included files that git's configuration names for a directory: that of the repository
 * around it, of the user and of the system. They may be missing.
 */
export async function obeyedByGit(directory: string, { home, env }: ConfigPlaces): Promise<string[]> {
  const { workTree } = (await enclosingRepository(directory)) ?? { workTree: directory };
  const files = [...(await repositoryConfigs(workTree).catch(() => [])), ...sharedConfigs({ home, env })];
  const { hooksPaths, included } = await readConfigs(files, home);
  const named = [...hooksPaths.map((path) => resolve(workTree, path)), ...included];
  const real = await Promise.all(named.map((path) => realpath(path).catch(() => path)));
  return [...new Set([...named, ...real])];
}

/** Also of a repository that git may not use as it is, but may use later. */
async function repositoryConfigs(workTree: string): Promise<string[]> {
  const entry = await lookUp(join(workTree, '.git'));
  const git = entry && (await gitDirectoryOf(workTree, entry));
  if (git === undefined) return [];
  const common = resolve(git, (await readText(join(git, 'commondir'), 4096)).trim());
  return [join(common, 'config'), join(git, 'config.worktree')];
}

/**
 * What of the repository that git uses in this directory lies outside of it: the work tree around it, and the directory of
 * the repository whose linked work tree this is. A repository of another user does not count, nor one of the whole home
 * directory, nor one that does not list this work tree: then a command could have named any directory.
 */
export async function repositoryPlaces(directory: string, home: string): Promise<string[]> {
  try {
    for (let at = directory; ; at = dirname(at)) {
      if (at !== directory && isWithin(at, home)) return [];
      const entry = await lookUp(join(at, '.git'));
      if (entry && entry.uid !== process.getuid?.()) return [];
      const own = entry && (await gitDirectoryOf(at, entry));
      const common = own && (await commonDirectoryOf(own, at));
      if (entry) return [at, common ?? at].filter((path) => !isWithin(directory, path) && existsSync(path));
      if (at === dirname(at)) return [];
    }
  } catch {
    return [];
  }
}

async function ownParts(workTree: string, entry: Stats): Promise<Pick<EnclosingRepository, 'own'> | undefined> {
  const gitDirectory = await gitDirectoryOf(workTree, entry);
  const common = gitDirectory && (await commonDirectoryOf(gitDirectory, workTree));
  if (!gitDirectory || !common) return undefined;
  const objects = join(common, 'objects');
  if (await canAccess(join(objects, 'info', 'alternates'))) return undefined;
  for (const directory of new Set([gitDirectory, common])) if (await containsLink(directory)) return undefined;
  // Objects with longer ids cannot be read together with ours.
  if (/objectformat/i.test(await readText(join(common, 'config'), 262_144))) return undefined;
  return { own: { index: join(gitDirectory, 'index'), objects, info: join(common, 'info') } };
}

async function looksLikeGitDirectory(directory: string): Promise<boolean> {
  if (!(await lookUp(join(directory, 'HEAD')))) return false;
  const parts = await Promise.all(['objects', 'refs', 'commondir'].map((name) => lookUp(join(directory, name))));
  return parts.some(Boolean);
}

async function doubtIn(workTree: string, entry: Stats, home: string | undefined): Promise<string | undefined> {
  const gitDirectory = await gitDirectoryOf(workTree, entry);
  const common = gitDirectory && (await commonDirectoryOf(gitDirectory, workTree));
  if (!gitDirectory || !common) return 'the repository is irregular, or is elsewhere';
  if (!ownWorktrees.has(workTree) && (await canAccess(join(common, 'objects', 'info', 'alternates'))))
    return 'the repository uses objects from elsewhere';
  for (const directory of new Set([gitDirectory, common]))
    if (await containsLink(directory)) return 'the repository contains symlinks';
  const shared = home === undefined ? [] : await obeyedByGit(workTree, { home, env: {} });
  const doubt = (await configurationDoubt(gitDirectory, common, workTree)) ?? (await hookDoubt(shared));
  if (doubt !== undefined) return doubt;
  return (await hasSubmodules(gitDirectory)) ? 'the repository has submodules with their own configuration' : undefined;
}

/** `.git`, or the directory that a `.git` file names; `undefined` if the file is not exactly as git writes it. */
async function gitDirectoryOf(workTree: string, entry: Stats): Promise<string | undefined> {
  const path = join(workTree, '.git');
  if (entry.isDirectory()) return path;
  if (!entry.isFile()) return undefined;
  const name = /^gitdir: ([^\s\p{Cc}\ufffd]+(?: [^\s\p{Cc}\ufffd]+)*)\n?$/u.exec(await readText(path, 4096))?.[1];
  return name && realpath(isAbsolute(name) ? name : `${workTree}/${name}`);
}

/**
 * The directory with objects and references: the git directory itself, or that of a repository elsewhere which lists this
 * work tree. `undefined` if they are not exactly as git creates them, or if the command would show another repository,
 * which may be private.
 */
async function commonDirectoryOf(gitDirectory: string, workTree: string): Promise<string | undefined> {
  if (isWithin(workTree, gitDirectory)) return (await isOrdinary(gitDirectory)) ? gitDirectory : undefined;
  const [shared = '', back = ''] = await Promise.all(
    ['commondir', 'gitdir'].map((name) => readText(join(gitDirectory, name), 4096)),
  );
  if (shared !== '../..\n' || back === '' || !(await hasHead(gitDirectory))) return undefined;
  if ((await realpath(resolve(gitDirectory, back.trim()))) !== join(workTree, '.git')) return undefined;
  const common = dirname(dirname(gitDirectory));
  return (await isOrdinary(common)) ? common : undefined;
}

/** Whether git certainly treats this as a repository. */
async function isOrdinary(directory: string): Promise<boolean> {
  if ((await lookUp(join(directory, 'commondir'))) || !(await hasHead(directory))) return false;
  for (const path of [join(directory, 'objects'), join(directory, 'refs')]) {
    if (!(await lookUp(path))?.isDirectory()) return false;
    await access(path, constants.X_OK);
  }
  return true;
}

async function hasHead(directory: string): Promise<boolean> {
  const head = join(directory, 'HEAD');
  if (!(await lookUp(head))?.isFile()) return false;
  return /^(ref: refs\/\S+|[\da-f]{40}|[\da-f]{64})\n?$/.test(await readText(head, 4096));
}

/** Parts where symlinks are allowed, and parts that git does not read or reads only object by object. */
const unchecked = /^(hooks|modules|lfs|objects\/[\da-f]{2})$/;

/** Whether there is a symlink that a read-only git command would follow. */
async function containsLink(gitDirectory: string, below = '', levels = 2): Promise<boolean> {
  for (const entry of await readdir(join(gitDirectory, below), { withFileTypes: true })) {
    const name = join(below, entry.name);
    if (unchecked.test(name)) continue;
    if (entry.isSymbolicLink()) return true;
    if (levels > 0 && entry.isDirectory() && (await containsLink(gitDirectory, name, levels - 1))) return true;
  }
  return false;
}

/** Keys that make a read-only git command run a program, read files elsewhere, or fetch. */
const runningKeys =
  /(?:^|[\s\]])(fsmonitor(?![ \t]*=[ \t]*(?:false|0)[ \t]*(?:\r?\n|$(?![\s\S])))|external|command|textconv|clean|smudge|process|program|showsignature|path|worktree|promisor|partialclone\w*|recurse|submodule|submodulesummary)\s*(?:=|#|;|$)/im;
/** In a format. A value may contain quotes and escaped line breaks anywhere. */
const runsSignatureCheck = (text: string) => /%[-+ ]?G|signature/i.test(text.replace(/\\\r?\n|["\\]/g, ''));

async function configurationDoubt(gitDirectory: string, common: string, workTree: string): Promise<string | undefined> {
  const files = [join(common, 'config'), join(gitDirectory, 'config.worktree')];
  const text = (await Promise.all(files.map((file) => readText(file, 262_144)))).join('\n');
  const hit = runningKeys.exec(text);
  if (hit || runsSignatureCheck(text))
    return `the repository's configuration (${hit?.[1] ?? 'format'}) can make git run a program`;
  for (const name of valuesOf(text, '[a-z]*file')) {
    if (!/^[\w.-]+$/.test(name) || !(await lookUp(join(workTree, name)))?.isFile())
      return "the repository's configuration can make git show a file from elsewhere";
  }
  const paths = valuesOf(text, 'hookspath');
  if (!paths.every((path) => /^[\w./-]*$/.test(path))) return 'the directory of its hooks has an unusual name';
  const hookPaths = paths.map((path) => (isAbsolute(path) ? path : `${workTree}/${path}`));
  return hookDoubt([join(common, 'hooks'), ...hookPaths]);
}

async function hookDoubt(directories: readonly string[]): Promise<string | undefined> {
  const found = await Promise.all(directories.map((hooks) => canAccess(`${hooks}/post-index-change`)));
  return found.includes(true) ? 'the repository has a hook that runs when git checks files' : undefined;
}

/** The values of a key, without quotes; other syntax that git removes is kept. */
function valuesOf(text: string, key: string): string[] {
  return [...text.matchAll(new RegExp(`(?:^|[\\s\\]])${key}\\s*=([^\\n]*)`, 'gim'))].map(([, value = '']) =>
    value.replace(/^[ \t]+|(?<![ \t\r])[ \t\r]+$/g, '').replaceAll('"', ''),
  );
}

/** Whether the index, or a shared part of it in another file, contains submodules. */
async function hasSubmodules(gitDirectory: string): Promise<boolean> {
  const shared = (await readdir(gitDirectory)).filter((name) => name.startsWith('sharedindex.'));
  for (const name of ['index', ...shared]) if (await containsSubmodule(join(gitDirectory, name))) return true;
  return false;
}

/** Searches the bytes for entries with the mode of a submodule, or of a directory that stands for its contents. */
async function containsSubmodule(index: string): Promise<boolean> {
  const info = await stat(index).catch(() => undefined);
  if (!info) return false;
  if (info.size > 33_554_432) return true;
  const bytes = await readFile(index);
  for (const mode of specialModes) {
    for (let at = bytes.indexOf(mode); at !== -1; at = bytes.indexOf(mode, at + 1)) {
      // Entries start after 12 bytes, at multiples of 8 in the layouts without prefix compression; the mode is at byte 24.
      if (bytes.readUInt32BE(4) > 3 || (at - 12 - 24) % 8 === 0) return true;
    }
  }
  return false;
}

/** Octal 160000 and 40000. */
const specialModes = [Buffer.from([0, 0, 0xe0, 0]), Buffer.from([0, 0, 0x40, 0])];

/** A missing file counts as empty. Throws if it is not a small regular file. */
async function readText(file: string, limit: number): Promise<string> {
  const info = await stat(file).catch(() => undefined);
  if (!info) return '';
  if (!info.isFile() || info.size > limit) throw new Error(`${file} is not a small regular file`);
  return readFile(file, 'utf8');
}

/** Does not follow symlinks; `undefined` if nothing is there. */
async function lookUp(path: string): Promise<Stats | undefined> {
  return lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
    throw error;
  });
}

/** Whether a path exists and permits `mode`, symlinks followed. */
export async function canAccess(path: string, mode?: number): Promise<boolean> {
  return access(path, mode).then(
    () => true,
    () => false,
  );
}
