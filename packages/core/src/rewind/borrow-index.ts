import { readFile, rename, stat, unlink, utimes, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { osPath } from '../files/file-name.js';
import { codeOf } from '../files/fs-error.js';
import { type IndexEntry, readIndex, writeEntries } from '../process/shell/git-index.js';
import type { EnclosingRepository } from '../process/shell/git-repository.js';
import { joinZero, objectSizes } from './git-output.js';
import type { PrivateGit } from './private-git.js';

/** A larger index is not borrowed. */
const maxIndexBytes = 256 << 20;

/**
 * Starts our index from the one of the person's repository, so that files git knows need not be read. Takes over only
 * files of which git has exactly the bytes that are on disk; the others are read with the first snapshot.
 */
export async function borrowIndex(
  git: PrivateGit,
  { index, info }: NonNullable<EnclosingRepository['own']>,
  signal: AbortSignal,
): Promise<void> {
  const before = await stat(index, { bigint: true }).catch(() => undefined);
  if (!before?.isFile() || before.size > maxIndexBytes) return;
  const all = readIndex(await readFile(index)) ?? [];
  const below = toBytes(prefixOf(git));
  const inside = all.filter(({ name, isPlain }) => isPlain && name.subarray(0, below.length).equals(below));
  // Conversions of line ends, of `$Id$` and of large files change the size.
  const sizes = await objectSizes(
    git,
    inside.map(({ id }) => id),
    signal,
  );
  const stored = inside.filter(({ id, size }) => sizes.get(id) === size);
  const entries = await withoutConversion(git, stored, join(info, 'attributes'), signal);
  const temp = `${git.options.index}.borrowed`;
  await writeFile(temp, writeEntries(entries), { mode: 0o600 });
  // git reads a file again that is not older than the index. One microsecond less makes up for rounding.
  const time = Number(before.mtimeNs / 1000n - 1n) / 1e6;
  await utimes(temp, time, time);
  await rename(temp, git.options.index);
}

/** The workspace as seen from the work tree: empty, or with a slash at its end. */
export function prefixOf({ options: { root, workTree } }: PrivateGit): string {
  return root === workTree ? '' : `${relative(workTree, root)}/`;
}

export function toBytes(path: string): Buffer {
  const os = osPath(path);
  return typeof os === 'string' ? Buffer.from(os) : os;
}

/** Leaves out files for which attributes name a filter or an encoding, which may keep the size. */
async function withoutConversion(
  git: PrivateGit,
  entries: readonly IndexEntry[],
  attributes: string,
  signal: AbortSignal,
): Promise<readonly IndexEntry[]> {
  // Ours say that there are no conversions.
  await unlink(join(git.options.directory, 'info', 'attributes')).catch((error: unknown) => {
    if (codeOf(error) !== 'ENOENT') throw error;
  });
  const { length } = toBytes(prefixOf(git));
  const input = joinZero(entries.map(({ name }) => name.subarray(length)));
  const args = ['-c', `core.attributesFile=${attributes}`, 'check-attr', '-z', '--stdin', ...converting];
  const output = await git.run(args, { input, signal, maxBytes: maxIndexBytes * 2 });
  const converted = new Set<string>();
  const fields = output.toString('latin1').split('\0');
  for (let at = 0; at + 2 < fields.length; at += 3)
    if (!['unspecified', 'unset'].includes(fields[at + 2] ?? '')) converted.add(fields[at] ?? '');
  return entries.filter(({ name }) => !converted.has(name.toString('latin1', length)));
}

const converting = ['filter', 'working-tree-encoding'];
