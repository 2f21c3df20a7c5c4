import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from 'node:fs';
import { attempt, thrownText } from '../contract/errors.js';
import { type BytePath, systemPath } from './byte-path.js';
import { codeOf } from './fs-error.js';

export interface SmallFileOptions {
  /** Called with the reason when a file exists but is not read. */
  onProblem?: (reason: string) => void;
  /** Refuse a symlink. */
  isLinkRefused?: boolean;
  /** Refuse a larger file. */
  maxBytes?: number;
}

const defaultMaxBytes = 1 << 20;

// O_NONBLOCK: opening a pipe must not wait for its writer. Windows lacks these flags, so they are 0 there.
const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

/** The bytes of a small configuration file, one character each; `undefined` when it is missing or cannot be used. */
export function readSmallFile(path: BytePath, options: SmallFileOptions = {}): string | undefined {
  const { onProblem, isLinkRefused = false, maxBytes = defaultMaxBytes } = options;
  let descriptor: number | undefined;
  try {
    descriptor = openSync(systemPath(path), isLinkRefused ? flags | constants.O_NOFOLLOW : flags);
    return readAll(descriptor, maxBytes);
  } catch (error) {
    if (!isMissing(error)) onProblem?.(reasonOf(error, isLinkRefused));
    return undefined;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** Whether the path exists, as a dangling symlink too. */
export function isThere(path: BytePath): boolean {
  return attempt(() => lstatSync(systemPath(path), { throwIfNoEntry: false })) !== undefined;
}

function readAll(descriptor: number, maxBytes: number): string {
  const stat = fstatSync(descriptor);
  if (!stat.isFile()) throw new Error('not a regular file');
  if (stat.size > maxBytes) throw new Error(`larger than ${maxBytes >> 10} KB`);
  const buffer = Buffer.allocUnsafe(stat.size);
  return buffer.toString('latin1', 0, readSync(descriptor, buffer, 0, stat.size, 0));
}

function reasonOf(error: unknown, isLinkRefused: boolean): string {
  if (isLinkRefused && codeOf(error) === 'ELOOP') return 'a link, which git does not follow';
  return thrownText(error);
}

function isMissing(error: unknown): boolean {
  const code = codeOf(error);
  return code === 'ENOENT' || code === 'ENOTDIR';
}
