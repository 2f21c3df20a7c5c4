import type { Visibility } from '../access/visibility.js';
import { fromBytePath, toBytePath } from '../byte-path.js';
import type { Workspace } from '../workspace.js';
import { walk } from './walk.js';

/**
 * The visible files and folders of a workspace, in batches, relative to its first directory. Folders end in a slash.
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
