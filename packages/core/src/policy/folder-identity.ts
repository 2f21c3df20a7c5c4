import { createHash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import { chmod, open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';

/** What makes a folder the one that was decided about. Inodes are reused, so they alone identify nothing. */
export interface FolderIdentity {
  device: string;
  inode: string;
  /** When the folder was created, if the file system records it. */
  born?: string;
  /** Otherwise a hash of how the history of its repository began. */
  origin?: string;
}

export async function identityOf(folder: string): Promise<FolderIdentity> {
  const info = await stat(folder, { bigint: true });
  if (!info.isDirectory()) throw new Error(`${folder} is not a folder.`);
  const place = { device: `${info.dev}`, inode: `${info.ino}` };
  if (await recordsBirth(folder, info)) return { ...place, born: `${info.birthtimeNs}` };
  const origin = await originOf(folder);
  return { ...place, ...(origin !== undefined && { origin }) };
}

/** False also for a record that names nothing but an inode. */
export async function isSameFolder(path: string, known: FolderIdentity): Promise<boolean> {
  const info = await stat(path, { bigint: true }).catch(() => undefined);
  if (info === undefined || known.device !== `${info.dev}` || known.inode !== `${info.ino}`) return false;
  if (known.born !== undefined) return known.born === `${info.birthtimeNs}`;
  return known.origin !== undefined && known.origin === (await originOf(path));
}

/** Longer than the clock tick of any kernel. */
const tickMs = 20;

/** Where creation times are not recorded, Node returns the time of the last change, which would end trust at the next. */
async function recordsBirth(folder: string, { birthtimeNs, ctimeNs, mode }: BigIntStats): Promise<boolean> {
  if (birthtimeNs <= 0n || birthtimeNs > ctimeNs) return false;
  if (birthtimeNs < ctimeNs) return true;
  // A folder that has not changed since it was created: change it without an effect, and see which time moves.
  await setTimeout(tickMs);
  await chmod(folder, Number(mode & 0o7777n)).catch(() => {});
  const after = await stat(folder, { bigint: true });
  return after.ctimeNs !== ctimeNs && after.birthtimeNs === birthtimeNs;
}

const maxLine = 4096;

/** The first line of the log of HEAD holds the first commit or the address of the clone, who made it, and when. */
async function originOf(folder: string): Promise<string | undefined> {
  try {
    const file = await open(join(folder, '.git', 'logs', 'HEAD'));
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(maxLine), 0, maxLine, 0);
      const [line = ''] = buffer.toString('latin1', 0, bytesRead).split('\n', 1);
      return line === '' ? undefined : createHash('sha256').update(line).digest('hex');
    } finally {
      await file.close();
    }
  } catch {
    return undefined;
  }
}
