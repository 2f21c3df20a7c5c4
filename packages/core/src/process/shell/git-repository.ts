import type { Stats } from 'node:fs';
import { access, constants, lstat, readdir, readFile, realpath, stat } from 'node:fs/promises';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { isWithin } from '../../files/workspace.js';

/**
 * Why even a git command that only shows could run a program in this directory, or show what lies elsewhere; `undefined`
 * when it could not. The repository's own configuration may name programs for git to run, and a workspace may come with
 * a repository. One that is odd in any way is a reason: git may pass it over and find another one.
 */
export async function repositoryDoubt(directory: string): Promise<string | undefined> {
  try {
    // git looks upwards from where links lead.
    for (let at = await realpath(directory).catch(() => directory); ; at = dirname(at)) {
      const entry = await look(join(at, '.git'));
      if (entry) return await doubtIn(at, entry);
      if (await looksLikeGitDirectory(at)) return `${at} itself looks like a repository`;
      if (at === dirname(at)) return undefined;
    }
  } catch {
    return "the repository's configuration cannot be read";
  }
}

async function looksLikeGitDirectory(directory: string): Promise<boolean> {
  if (!(await look(join(directory, 'HEAD')))) return false;
  const parts = await Promise.all(['objects', 'refs', 'commondir'].map((name) => look(join(directory, name))));
  return parts.some(Boolean);
}

async function doubtIn(workTree: string, entry: Stats): Promise<string | undefined> {
  const gitDirectory = await gitDirectoryOf(workTree, entry);
  const common = gitDirectory && (await commonDirectoryOf(gitDirectory, workTree));
  if (!gitDirectory || !common) return 'the repository is no ordinary one, or lies elsewhere';
  if (await exists(join(common, 'objects', 'info', 'alternates')))
    return 'the repository shares one that lies elsewhere';
  for (const directory of new Set([gitDirectory, common]))
    if (await holdsLink(directory)) return 'the repository has links to what lies elsewhere';
  const doubt = await configurationDoubt(gitDirectory, common, workTree);
  if (doubt !== undefined) return doubt;
  return (await hasSubmodules(gitDirectory))
    ? 'the repository has submodules with a configuration of their own'
    : undefined;
}

/** `.git`, or where such a file leads; `undefined` when it is not written as git writes it. */
async function gitDirectoryOf(workTree: string, entry: Stats): Promise<string | undefined> {
  const path = join(workTree, '.git');
  if (entry.isDirectory()) return path;
  if (!entry.isFile()) return undefined;
  const name = /^gitdir: ([^\s\p{Cc}\ufffd]+(?: [^\s\p{Cc}\ufffd]+)*)\n?$/u.exec(await readText(path, 4096))?.[1];
  return name && realpath(isAbsolute(name) ? name : `${workTree}/${name}`);
}

/**
 * The directory with objects and references: the same one, or that of a repository elsewhere which knows this work tree.
 * `undefined` when they are not exactly as git makes them, or when the content of another repository would be shown,
 * which the user may not want seen.
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

/** Whether git surely takes this for a repository of its own. */
async function isOrdinary(directory: string): Promise<boolean> {
  if ((await look(join(directory, 'commondir'))) || !(await hasHead(directory))) return false;
  for (const path of [join(directory, 'objects'), join(directory, 'refs')]) {
    if (!(await look(path))?.isDirectory()) return false;
    await access(path, constants.X_OK);
  }
  return true;
}

async function hasHead(directory: string): Promise<boolean> {
  const head = join(directory, 'HEAD');
  if (!(await look(head))?.isFile()) return false;
  return /^(ref: refs\/\S+|[\da-f]{40}|[\da-f]{64})\n?$/.test(await readText(head, 4096));
}

/** Parts whose links are followed knowingly, which git does not read, or reads only object by object. */
const unwatched = /^(hooks|modules|lfs|objects\/[\da-f]{2})$/;

/** Whether something is a link that git would follow while it shows a history or a state. */
async function holdsLink(gitDirectory: string, below = '', levels = 2): Promise<boolean> {
  for (const entry of await readdir(join(gitDirectory, below), { withFileTypes: true })) {
    const name = join(below, entry.name);
    if (unwatched.test(name)) continue;
    if (entry.isSymbolicLink()) return true;
    if (levels > 0 && entry.isDirectory() && (await holdsLink(gitDirectory, name, levels - 1))) return true;
  }
  return false;
}

/** Keys that make git run a program, look elsewhere, or fetch, while it only shows something. */
const runningKeys =
  /(?:^|[\s\]])(fsmonitor(?![ \t]*=[ \t]*(?:false|0)[ \t]*(?:\r?\n|$(?![\s\S])))|external|command|textconv|clean|smudge|process|program|showsignature|path|worktree|promisor|partialclone\w*|recurse|submodule|submodulesummary)\s*(?:=|#|;|$)/im;
/** In a format. Quotes and line breaks may stand anywhere in a value. */
const runsSignatureCheck = (text: string) => /%[-+ ]?G|signature/i.test(text.replace(/\\\r?\n|["\\]/g, ''));

async function configurationDoubt(gitDirectory: string, common: string, workTree: string): Promise<string | undefined> {
  const files = [join(common, 'config'), join(gitDirectory, 'config.worktree')];
  const text = (await Promise.all(files.map((file) => readText(file, 262_144)))).join('\n');
  const hit = runningKeys.exec(text);
  if (hit || runsSignatureCheck(text))
    return `the repository's configuration (${hit?.[1] ?? 'format'}) can make git run a program`;
  for (const name of valuesOf(text, '[a-z]*file')) {
    if (!/^[\w.-]+$/.test(name) || !(await look(join(workTree, name)))?.isFile())
      return "the repository's configuration can make git show a file that lies elsewhere";
  }
  const paths = valuesOf(text, 'hookspath');
  if (!paths.every((path) => /^[\w./-]*$/.test(path))) return 'the directory of its hooks has an odd name';
  for (const hooks of [
    join(common, 'hooks'),
    ...paths.map((path) => (isAbsolute(path) ? path : `${workTree}/${path}`)),
  ]) {
    if (await exists(`${hooks}/post-index-change`))
      return 'the repository has a hook that git runs when it looks at files';
  }
  return undefined;
}

/** The values of a key, without quotes; what else git would take out of them stays. */
function valuesOf(text: string, key: string): string[] {
  return [...text.matchAll(new RegExp(`(?:^|[\\s\\]])${key}\\s*=([^\\n]*)`, 'gim'))].map(([, value = '']) =>
    value.replace(/^[ \t]+|(?<![ \t\r])[ \t\r]+$/g, '').replaceAll('"', ''),
  );
}

/** Whether there are submodules in the index, or in the part of it that is kept in files of its own. */
async function hasSubmodules(gitDirectory: string): Promise<boolean> {
  const shared = (await readdir(gitDirectory)).filter((name) => name.startsWith('sharedindex.'));
  for (const name of ['index', ...shared]) if (await holdsSubmodule(join(gitDirectory, name))) return true;
  return false;
}

/** Entries with the mode of a submodule, or of a directory that stands for all that is in it, found by their bytes. */
async function holdsSubmodule(index: string): Promise<boolean> {
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

/** An absent file is empty; one that is no small regular file is an error. */
async function readText(file: string, limit: number): Promise<string> {
  const info = await stat(file).catch(() => undefined);
  if (!info) return '';
  if (!info.isFile() || info.size > limit) throw new Error(`${file} is no small regular file`);
  return readFile(file, 'utf8');
}

/** What is there, links not followed; `undefined` when nothing is. */
async function look(path: string): Promise<Stats | undefined> {
  return lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
    throw error;
  });
}

async function exists(path: string): Promise<boolean> {
  return access(path, constants.F_OK).then(
    () => true,
    () => false,
  );
}
