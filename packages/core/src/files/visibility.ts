import type { IgnoredBy, IgnoreRules } from './ignore-rules.js';

/** What of a tree the search tools show. */
export interface Visibility {
  rules: IgnoreRules;
  /** Whose ignore rules are left aside. */
  disregard?: ReadonlySet<IgnoredBy>;
  /** What permission rules deny reading is treated as if it did not exist. Given real paths, of directories as well. */
  canRead?: ((path: string) => boolean) | undefined;
}
