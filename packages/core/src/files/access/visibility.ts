import { realpathSync } from 'node:fs';
import { attempt } from '../../contract/errors.js';
import { type BytePath, fromBytePath, systemPath } from '../byte-path.js';
import type { IgnoredBy, IgnoreRules } from '../ignore/ignore-rules.js';
import type { Location } from '../workspace.js';

/** What the search tools show of a tree. */
export interface Visibility {
  rules: IgnoreRules;
  /** Whose ignore rules do not count. */
  disregard?: ReadonlySet<IgnoredBy>;
  /** False for real paths, also of directories, that permission rules deny: they are treated as missing. */
  canRead?: ((path: string) => boolean) | undefined;
}

/** A symlink is hidden when its target is. */
export function mayShowLink(path: BytePath, { canRead }: Pick<Visibility, 'canRead'>): boolean {
  if (canRead === undefined) return true;
  const real = attempt(() => realpathSync.native(systemPath(path), { encoding: 'latin1' })) ?? path;
  return canRead(fromBytePath(path)) && canRead(fromBytePath(real));
}

export const hiddenReason = 'it is hidden by .qwenignore or .latheignore';

/** A file that a call names is read even if git ignores it, but not if the agent's own ignore files hide it. */
export function isHiddenByAgent(path: string, { rules, disregard }: Visibility): boolean {
  return disregard?.has('agent') !== true && rules.ignoredBy(path, { isDirectory: false }) === 'agent';
}

/** The same for a place to which symlinks may lead. */
export function isHiddenPlace(
  { path, alias = path }: Pick<Location, 'path' | 'alias'>,
  visibility: Visibility,
): boolean {
  return isHiddenByAgent(path, visibility) || (alias !== path && isHiddenByAgent(alias, visibility));
}
