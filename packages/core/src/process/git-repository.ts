import { access, constants, readdir, readFile, realpath, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { isWithin } from '../files/workspace.js';

/**
 * Why even a git command that only shows could run a program in this directory; `undefined` when it could not. The
 * repository's own configuration may name programs for git to run, and a workspace may come with a repository.
 */
export async function repositoryDoubt(directory: string): Promise<string | undefined> {
  for (let at = directory; ; at = dirname(at)) {
    const gitDirectory = await gitDirectoryIn(at);
    if (gitDirectory !== undefined) return configurationDoubt(gitDirectory, at);
    if (await looksLikeGitDirectory(at)) return `${at} itself looks like a repository`;
    if (at === dirname(at)) return undefined;
  }
}

async function gitDirectoryIn(directory: string): Promise<string | undefined> {
  const entry = join(directory, '.git');
  const info = await stat(entry).catch(() => undefined);
  if (info?.isDirectory()) return entry;
  if (!info?.isFile()) return undefined;
  const pointer = /^gitdir: (.+)$/m.exec(await readText(entry, 4096))?.[1];
  return pointer === undefined ? entry : resolve(directory, pointer.trim());
}

async function looksLikeGitDirectory(directory: string): Promise<boolean> {
  const parts = await Promise.all(['HEAD', 'objects', 'refs'].map((name) => exists(join(directory, name))));
  return parts.every(Boolean);
}

/** Keys that make git run a program, look elsewhere, or fetch, while it only shows something. */
const runningKeys =
  /(?:^|[\s\]])(fsmonitor(?![ \t]*=[ \t]*(?:false|0)[ \t]*$)|external|command|textconv|clean|smudge|process|program|showsignature|path|worktree|promisor|partialclone|submodule|submodulesummary)\s*(?:=|#|;|$)/im;
/** In a format. Quotes and line breaks may stand anywhere in a value. */
const runsSignatureCheck = (text: string) => /%G|signature/i.test(text.replace(/\\\r?\n|["\\]/g, ''));

async function configurationDoubt(gitDirectory: string, workTree: string): Promise<string | undefined> {
  try {
    const common = resolve(gitDirectory, (await readText(join(gitDirectory, 'commondir'), 4096)).trim() || '.');
    const files = [join(common, 'config'), join(gitDirectory, 'config.worktree')];
    const text = (await Promise.all(files.map((file) => readText(file, 262_144)))).join('\n');
    const hit = runningKeys.exec(text);
    if (hit || runsSignatureCheck(text))
      return `the repository's configuration (${hit?.[1] ?? 'format'}) can make git run a program`;
    const paths = hookPaths(text);
    if (!paths.every((path) => /^[\w./-]*$/.test(path))) return 'the directory of its hooks has an odd name';
    for (const hooks of [join(common, 'hooks'), ...paths.map((path) => resolve(workTree, path))]) {
      if (await exists(join(hooks, 'post-index-change')))
        return 'the repository has a hook that git runs when it looks at files';
    }
    if (await isForeign(gitDirectory, workTree)) return 'the repository is, or shares, one that lies elsewhere';
    return (await hasSubmodules(gitDirectory))
      ? 'the repository has submodules with a configuration of their own'
      : undefined;
  } catch {
    return "the repository's configuration cannot be read";
  }
}

function hookPaths(text: string): string[] {
  return [...text.matchAll(/(?:^|[\s\]])hookspath\s*=([^\n]*)/gim)].map(([, path = '']) =>
    path.replaceAll('"', '').trim(),
  );
}

/**
 * Whether git would show the content of another repository, which the user may not want seen: one that a `.git` file or
 * link leads to without knowing of this work tree, or one whose objects are borrowed.
 */
async function isForeign(gitDirectory: string, workTree: string): Promise<boolean> {
  const [real, tree] = await Promise.all([realpath(gitDirectory), realpath(workTree)]);
  if (await exists(join(real, 'objects', 'info', 'alternates'))) return true;
  if (isWithin(tree, real)) return exists(join(real, 'commondir'));
  const back = (await readText(join(real, 'gitdir'), 4096)).trim();
  return back === '' || (await realpath(resolve(real, back))) !== join(tree, '.git');
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

async function exists(path: string): Promise<boolean> {
  return access(path, constants.F_OK).then(
    () => true,
    () => false,
  );
}
