import { lstatSync } from 'node:fs';
import { Yielder } from '../../async/yielder.js';
import { ToolError } from '../../contract/errors.js';
import { osPath } from '../file-name.js';
import { withReadableFile } from '../open-file.js';
import { fairShares } from './fair-shares.js';
import { type Content, readContent } from './read-content.js';

export type ManyRead =
  | { path: string; content: Content }
  /** Why the file is not there; the others are. */
  | { path: string; reason: string };

export interface ManyLimits {
  /** Characters of text in all. */
  chars: number;
  mediaBytes: number;
}

/** Less than this of a file helps nobody. */
const leastChars = 500;
/** Few enough for a process with a handful of descriptors, and for the memory that images take. */
const parallelReads = 4;

/** Reads files in order, sharing the budget fairly. One that fails does not fail the others; the last may find no room. */
export async function readMany(
  files: readonly { path: string; isNamed: boolean }[],
  limits: ManyLimits,
  signal: AbortSignal,
): Promise<{ reads: ManyRead[]; unread: number }> {
  const yielder = new Yielder(signal);
  const sizes = await sizesOf(files, yielder);
  const shares = fairShares(sizes, limits.chars, leastChars).filter((share) => share !== undefined);
  const reads: ManyRead[] = [];
  let mediaLeft = limits.mediaBytes;
  let next = 0;
  const readOn = async () => {
    for (let index = next++; index < shares.length; index = next++) {
      const file = files[index];
      if (file === undefined) return;
      // Opening and reading a small file is synchronous.
      if (yielder.shouldYield) await yielder.yield();
      signal.throwIfAborted();
      const maxMediaBytes = file.isNamed ? mediaLeft : 0;
      const read = await readOne(file.path, { maxChars: shares[index] ?? 0, maxMediaBytes }, signal);
      if ('content' in read && read.content.type === 'media') mediaLeft -= sizes[index] ?? 0;
      reads[index] = read;
    }
  };
  await Promise.all(Array.from({ length: parallelReads }, readOn));
  return { reads, unread: files.length - shares.length };
}

async function readOne(
  path: string,
  limits: { maxChars: number; maxMediaBytes: number },
  signal: AbortSignal,
): Promise<ManyRead> {
  try {
    const request = { ...limits, maxLines: Number.MAX_SAFE_INTEGER };
    return { path, content: await withReadableFile(path, (file) => readContent(file, request, signal)) };
  } catch (error) {
    if (error instanceof ToolError) return { path, reason: error.message };
    throw error;
  }
}

/** A file of the kernel says 0 and has something all the same; what is gone is found out when it is read. */
async function sizesOf(files: readonly { path: string }[], yielder: Yielder): Promise<number[]> {
  const sizes: number[] = [];
  for (const { path } of files) {
    const stat = lstatSync(osPath(path), { throwIfNoEntry: false });
    sizes.push(stat === undefined || stat.size === 0 ? leastChars : stat.size);
    if (yielder.shouldYield) await yielder.yield();
  }
  return sizes;
}
