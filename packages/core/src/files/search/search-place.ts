import { realpathSync } from 'node:fs';
import { access, constants, realpath, stat } from 'node:fs/promises';
import { attempt, ToolError } from '../../contract/errors.js';
import { type BytePath, systemPath, toBytePath } from '../byte-path.js';
import { codeOf } from '../fs-error.js';
import { refuseEndless } from '../open-file.js';
import { isWithin } from '../workspace.js';

/** Whether a search path is a file or a directory; a typed error when it is missing or cannot be searched. */
export async function searchPlace(path: string): Promise<'file' | 'directory'> {
  try {
    const place = systemPath(toBytePath(path));
    const [found] = await Promise.all([stat(place), refuseMoved(path)]);
    if (found.isFile()) await refuseEndless(path);
    if (found.isFile() || found.isDirectory()) {
      await access(place, constants.R_OK);
      return found.isFile() ? 'file' : 'directory';
    }
  } catch (error) {
    if (error instanceof ToolError) throw error;
    const reason =
      codeOf(error) === 'ENOENT' ? 'does not exist' : `cannot be searched (${codeOf(error) ?? String(error)})`;
    throw new ToolError('search_path_not_found', `${path} ${reason}.`, { cause: error });
  }
  throw new ToolError('search_path_not_a_directory', `${path} is neither a directory nor a regular file.`);
}

/** Throws when the path, or a directory above it, has become a symlink since the call was judged. */
export async function refuseMoved(path: string): Promise<void> {
  if (await isInPlace(toBytePath(path))) return;
  throw new ToolError(
    'search_path_not_found',
    `${path} was replaced by a symlink after the call was judged. Try again.`,
  );
}

/** Whether a real path still has no symlink in it. */
async function isInPlace(path: BytePath): Promise<boolean> {
  const real = await realpath(systemPath(path), { encoding: 'latin1' }).catch(() => undefined);
  return real === path;
}

/** The same, synchronously, for a path that was just opened. */
export function isInPlaceNow(path: BytePath): boolean {
  return attempt(() => realpathSync.native(systemPath(path), { encoding: 'latin1' })) === path;
}

/** The roots without those that lie inside another one, so that nothing is found twice. */
export function outermost(roots: readonly string[]): string[] {
  return roots.filter((root, index) =>
    roots.every((other, at) => at === index || !isWithin(other, root) || (other === root && at > index)),
  );
}
