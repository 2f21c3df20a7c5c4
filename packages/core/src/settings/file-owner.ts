import type { Stats } from 'node:fs';

/**
 * Why the content of a file may come from somebody else: another owner than the user and root, or a mode that lets
 * others write. A group with the number of the owner is the owner's alone, as most distributions create them.
 */
export function foreignHand({ uid, gid, mode }: Pick<Stats, 'uid' | 'gid' | 'mode'>): string | undefined {
  const user = process.getuid?.();
  if (user === undefined) return undefined;
  if (uid !== 0 && uid !== user) return `it belongs to another user (uid ${uid})`;
  const isShared = (mode & 0o002) !== 0 || ((mode & 0o020) !== 0 && gid !== uid);
  return isShared ? `other users can write it (mode ${(mode & 0o777).toString(8)})` : undefined;
}
