import type { Visibility } from '../access/visibility.js';
import { fromBytePath, toBytePath } from '../byte-path.js';
import type { Workspace } from '../workspace.js';
import { walk } from './walk.js';

/**
 * The files and folders of a workspace that searches show, some at a time, as people name them: relative to its first
 * directory, folders with a slash at the end.
 */
export async function* listPaths(
  workspace: Workspace,
  visibility: Visibility,
  signal: AbortSignal,
): AsyncGenerator<string[]> {
  for (const root of workspace.roots) {
    const directory = toBytePath(root);
    const start = root === workspace.root ? (directory === '/' ? 1 : directory.length + 1) : 0;
    let last = `${directory}/`;
    for await (const { path, files, links } of walk({ ...visibility, directory, signal })) {
      const folder = path === last ? [] : [path];
      last = path;
      yield [...folder, ...files.map((name) => path + name), ...links.map((name) => path + name)].map((entry) =>
        fromBytePath(entry.slice(start)),
      );
    }
  }
}
