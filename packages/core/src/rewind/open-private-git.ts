import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { ToolError } from '../contract/errors.js';
import { toBytePath } from '../files/byte-path.js';
import { osPath } from '../files/file-name.js';
import type { LatheHome } from '../files/lathe-home.js';
import { readSmallFile } from '../files/small-file.js';
import { isWithin } from '../files/workspace.js';
import { trustedPath } from '../process/run/trusted-path.js';
import { type EnclosingRepository, enclosingRepository } from '../process/shell/git-repository.js';
import { borrowIndex } from './borrow-index.js';
import { checkIgnored } from './ignored-paths.js';
import { exactAttributes, PrivateGit, putFile } from './private-git.js';

export interface PrivateGitPlace {
  /** The workspace. */
  root: string;
  home: LatheHome;
  /** The value of `PATH`, to find git. */
  path: string;
  /** The person's own list of ignored files. */
  excludesFile: string | undefined;
}

/** Opens the private repository of a workspace, and creates it when there is none. */
export async function openPrivateGit(place: PrivateGitPlace, signal: AbortSignal): Promise<PrivateGit> {
  const { root, home, excludesFile } = place;
  const program = trustedPath('git', { outside: [root], path: place.path });
  if (program === undefined) throw new ToolError('execution_failed', 'git is not installed');
  if (typeof osPath(root) !== 'string') throw new ToolError('execution_failed', `the name ${root} is not valid UTF-8`);
  const directory = await home.directory(...namesOf(root));
  const within = (repository: EnclosingRepository) => {
    const { workTree, own } = repository;
    const index = join(directory, `index-${keyOf(workTree)}`);
    return new PrivateGit({ program, directory, root, workTree, index, borrowed: own?.objects, excludesFile });
  };
  const found = (await enclosingRepository(root)) ?? { workTree: root };
  const outer = within(found);
  await outer.prepare();
  await exclude(outer, found, home);
  // In a directory that the repository ignores, its rules would leave nothing over.
  const isIgnored = found.workTree !== root && (await checkIgnored(outer, ['.'], signal)).size > 0;
  const git = isIgnored ? within({ workTree: root }) : outer;
  if (!isIgnored && found.own && !existsSync(git.options.index)) await borrowIndex(git, found.own, signal);
  await putFile(join(directory, 'info', 'attributes'), exactAttributes);
  return git;
}

/** Where the private repository of a workspace is, below Lathe's home. */
export function namesOf(root: string): [string, string] {
  return ['rewind', keyOf(root)];
}

function keyOf(path: string): string {
  return createHash('sha256').update(path).digest('hex').slice(0, 32);
}

/** What the repository excludes without a `.gitignore`, and the state of Lathe. */
async function exclude(
  { options }: PrivateGit,
  { own, workTree }: EnclosingRepository,
  home: LatheHome,
): Promise<void> {
  const theirs = own ? (readSmallFile(toBytePath(join(own.info, 'exclude'))) ?? '') : '';
  const ours = isWithin(workTree, home.path) ? `/${relative(workTree, home.path).replace(/[*?[\\]/g, '\\$&')}/\n` : '';
  await putFile(join(options.directory, 'info', 'exclude'), Buffer.from(`${theirs}\n${ours}`, 'latin1'));
}
