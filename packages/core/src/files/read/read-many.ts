import { lstatSync } from 'node:fs';
import { Yielder } from '../../async/yielder.js';
import { ToolError } from '../../contract/errors.js';
import { type EditorFiles, withCurrentFile } from '../editor-files.js';
import { osPath } from '../file-name.js';
import type { ReadableFile } from '../open-file.js';
import { type Content, readContent } from './read-content.js';

export type ManyRead =
  | { path: string; content: Content }
  /** Why this file could not be read. */
  | { path: string; reason: string };

export interface ManyLimits {
  /** Characters of text in all. */
  chars: number;
  mediaBytes: number;
}

/** Less of a file is of no use. */
const leastChars = 500;
const unsavedChars = 4000;

/** Reads files in order and shares the budget fairly. One failure does not stop the rest; the last files may get no room. */
export async function readMany(
  files: readonly { path: string; isNamed: boolean }[],
  limits: ManyLimits,
  signal: AbortSignal,
  editor?: EditorFiles,
): Promise<{ reads: ManyRead[]; unread: number }> {
  const yielder = new Yielder(signal);
  const onDisk = await sizesOf(files, yielder);
  // What is not saved yet may be longer.
  const sizes = editor ? onDisk.map((size) => size + unsavedChars) : onDisk;
  const shares = fairShares(sizes, limits.chars, leastChars).filter((share) => share !== undefined);
  const reads: ManyRead[] = [];
  let mediaLeft = limits.mediaBytes;
  for (const [index, { path, isNamed }] of files.slice(0, shares.length).entries()) {
    // Opening and reading a small file is synchronous.
    if (yielder.shouldYield) await yielder.yield();
    signal.throwIfAborted();
    const share = { maxChars: shares[index] ?? 0, maxMediaBytes: isNamed ? mediaLeft : 0 };
    const read = await readOne(path, share, signal, editor);
    if ('content' in read && read.content.type === 'media') mediaLeft -= sizes[index] ?? 0;
    reads.push(read);
  }
  return { reads, unread: files.length - shares.length };
}

async function readOne(
  path: string,
  limits: { maxChars: number; maxMediaBytes: number },
  signal: AbortSignal,
  editor: EditorFiles | undefined,
): Promise<ManyRead> {
  try {
    const request = { ...limits, maxLines: Number.MAX_SAFE_INTEGER };
    const read = (file: ReadableFile) => readContent(file, request, signal);
    return { path, content: await withCurrentFile(path, editor, signal, read) };
  } catch (error) {
    if (error instanceof ToolError) return { path, reason: error.message };
    throw error;
  }
}

/** A kernel file has content although its size is 0. Reading a file that is gone fails later. */
async function sizesOf(files: readonly { path: string }[], yielder: Yielder): Promise<number[]> {
  const sizes: number[] = [];
  for (const { path } of files) {
    const stat = lstatSync(osPath(path), { throwIfNoEntry: false });
    sizes.push(stat === undefined || stat.size === 0 ? leastChars : stat.size);
    if (yielder.shouldYield) await yielder.yield();
  }
  return sizes;
}

/**
 * Splits a budget between texts of these sizes: a short text leaves the rest to the others, and each gets at least
 * `least` or its size. Texts at the end that get nothing are `undefined`.
 */
export function fairShares(sizes: readonly number[], budget: number, least: number): (number | undefined)[] {
  const served = countServed(sizes, budget, least);
  const admitted = sizes.slice(0, served).toSorted((a, b) => a - b);
  let remaining = budget;
  let level = 0;
  for (const [index, size] of admitted.entries()) {
    level = Math.floor(remaining / (admitted.length - index));
    if (size > level) break;
    remaining -= size;
    level = size;
  }
  return sizes.map((size, index) => (index < served ? Math.min(size, level) : undefined));
}

function countServed(sizes: readonly number[], budget: number, least: number): number {
  let left = budget;
  const unserved = sizes.findIndex((size) => {
    left -= Math.min(size, least);
    return left < 0;
  });
  return unserved === -1 ? sizes.length : unserved;
}
