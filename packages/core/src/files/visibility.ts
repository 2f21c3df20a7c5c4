import type { IgnoredBy, IgnoreRules } from './ignore-rules.js';

/** What of a tree the search tools show. */
export interface Visibility {
  rules: IgnoreRules;
  /** Whose ignore rules are left aside. */
  disregard?: ReadonlySet<IgnoredBy>;
  /** What permission rules deny reading is treated as if it did not exist. Given real paths, of directories as well. */
  canRead?: ((path: string) => boolean) | undefined;
}

export const hiddenReason = 'it is hidden by .qwenignore or .latheignore';

/** A file asked for by its name is read even if git ignores it, but not against the agent's own ignore files. */
export function isHiddenByAgent(path: string, { rules, disregard }: Visibility): boolean {
  return disregard?.has('agent') !== true && rules.ignoredBy(path, { isDirectory: false }) === 'agent';
}
