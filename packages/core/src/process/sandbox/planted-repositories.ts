import { lstat, readdir, readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { isWithin } from '../../files/workspace.js';
import { plantedIn, readGitState } from './git-check.js';
import { entriesOf } from './read-entries.js';

/** How many names are looked at, nearest first. */
const maxEntries = 20_000;

/** With these, git takes a directory for a repository. */
export const bareNames = ['HEAD', 'objects', 'refs'];

/** The git directories below the top of a workspace, under any name, and files that lead git to one. */
async function repositoriesBelow(root: string): Promise<string[]> {
  const found: string[] = [];
  const directories = [root];
  let left = maxEntries;
  // The list grows while it is walked.
  for (const at of directories) {
    const entries = await readdir(at, { withFileTypes: true }).catch(() => entriesOf(at));
    left -= entries.length;
    if (left < 0) break;
    const names = new Set(entries.map(({ name }) => name));
    if (bareNames.every((name) => names.has(name))) found.push(at);
    for (const entry of entries) {
      const path = join(at, entry.name);
      if (entry.name.toLowerCase() !== '.git') {
        if (entry.isDirectory() && entry.name !== 'node_modules') directories.push(path);
      } else if (at !== root) found.push(path);
    }
  }
  return found;
}

/** What git would obey in this repository that git itself does not put into a new one. */
async function foreignIn(git: string, roots: readonly string[]): Promise<string[]> {
  const info = await lstat(git).catch(() => undefined);
  if (info?.isDirectory()) {
    const { entries, isPartial } = readGitState(git);
    return isPartial ? [git] : plantedIn(new Map(), entries);
  }
  if (!info?.isFile()) return [git];
  const text = await readFile(git, 'utf8').catch(() => '');
  // A linked worktree or a submodule of the workspace's own repository, which is checked with it.
  const target = resolve(dirname(git), /^gitdir: (.*)\n?$/.exec(text)?.[1] ?? '/');
  return roots.some((root) => isWithin(join(root, '.git'), target)) ? [] : [git];
}

/** Files in repositories below the top that may make git run a program. */
export async function gitProgramsBelow(roots: readonly string[]): Promise<string[]> {
  const repositories = (await Promise.all(roots.map(repositoriesBelow))).flat();
  return (await Promise.all(repositories.map((git) => foreignIn(git, roots)))).flat();
}
