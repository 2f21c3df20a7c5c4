import { realpathSync } from 'node:fs';
import { type BytePath, fromBytePath, systemPath } from '../byte-path.js';
import type { IgnoredBy, IgnoreRules } from '../ignore/ignore-rules.js';

/** What of a tree the search tools show. */
export interface Visibility {
  rules: IgnoreRules;
  /** Whose ignore rules are left aside. */
  disregard?: ReadonlySet<IgnoredBy>;
  /** What permission rules deny reading is treated as if it did not exist. Given real paths, of directories as well. */
  canRead?: ((path: string) => boolean) | undefined;
}

/** A link is as little to be seen as what it leads to. */
export function mayShowLink(path: BytePath, { canRead }: Pick<Visibility, 'canRead'>): boolean {
  if (canRead === undefined) return true;
  return canRead(fromBytePath(path)) && canRead(fromBytePath(realPath(path)));
}

function realPath(path: BytePath): BytePath {
  try {
    return realpathSync.native(systemPath(path), { encoding: 'latin1' });
  } catch {
    return path;
  }
}

export const hiddenReason = 'it is hidden by .qwenignore or .latheignore';

/** A file asked for by its name is read even if git ignores it, but not against the agent's own ignore files. */
export function isHiddenByAgent(path: string, { rules, disregard }: Visibility): boolean {
  return disregard?.has('agent') !== true && rules.ignoredBy(path, { isDirectory: false }) === 'agent';
}
