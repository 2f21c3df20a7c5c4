import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { osPath, shownPath } from '../files/file-name.js';
import { prefixOf, toBytes } from './borrow-index.js';
import { batchContents, joinZero, splitZero } from './git-output.js';
import { PrivateGit } from './private-git.js';

/**
 * Which of these paths the `.gitignore` files of a tree exclude. A file that was ignored is in no snapshot, so its absence
 * there does not mean that it did not exist.
 */
export async function ignoredPaths(
  git: PrivateGit,
  { tree, paths, signal }: { tree: string; paths: readonly string[]; signal: AbortSignal },
): Promise<ReadonlySet<string>> {
  const { directory, workTree } = git.options;
  const view = await mkdtemp(join(directory, 'view-'));
  try {
    const root = join(view, prefixOf(git));
    await mkdir(root, { recursive: true });
    for (let above = dirname(root), from = dirname(git.options.root); above.startsWith(view); ) {
      await copyFile(join(from, '.gitignore'), join(above, '.gitignore')).catch(() => undefined);
      if (from === workTree) break;
      [above, from] = [dirname(above), dirname(from)];
    }
    for (const [path, content] of await ignoreFiles(git, tree, signal)) {
      await mkdir(osPath(join(root, dirname(path))), { recursive: true });
      await writeFile(osPath(join(root, path)), content);
    }
    const other = new PrivateGit({ ...git.options, root, workTree: view, index: join(view, '.git') });
    return await checkIgnored(other, paths, signal);
  } finally {
    await rm(view, { recursive: true, force: true });
  }
}

export async function checkIgnored(
  git: PrivateGit,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  // A name that begins with a colon would be a pattern.
  const input = joinZero(paths.map((path) => toBytes(`./${path}`)));
  // The exit code is 1 when none is ignored.
  const output = await git.run(['check-ignore', '-z', '--stdin', '--no-index'], { input, signal, codes: [0, 1] });
  return new Set(splitZero(output).map((path) => shownPath(path).slice('./'.length)));
}

async function ignoreFiles(git: PrivateGit, tree: string, signal: AbortSignal): Promise<[string, Buffer][]> {
  const output = await git.run(['ls-tree', '-r', '-z', '--full-tree', tree], { signal });
  const files = splitZero(output).flatMap((record) => {
    const tab = record.indexOf('\t');
    const [mode = '', , id = ''] = record.toString('latin1', 0, tab).split(' ');
    const path = shownPath(record.subarray(tab + 1));
    return mode.startsWith('100') && /(^|\/)\.gitignore$/.test(path) ? [{ path, id }] : [];
  });
  const input = files.map(({ id }) => `${id}\n`).join('');
  const contents = batchContents(await git.run(['cat-file', '--buffer', '--batch'], { input, signal, borrows: true }));
  return files.map(({ path, id }) => [path, contents.get(id) ?? Buffer.alloc(0)]);
}
