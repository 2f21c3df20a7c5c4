import { isUtf8 } from 'node:buffer';
import { osPath, shownPath } from './file-name.js';

/**
 * A path as the operating system has it, one character per byte (`latin1`). Any name survives in this form, names are
 * compared byte by byte as git does, and a character takes one byte of memory.
 */
export type BytePath = string;

export function toBytePath(path: string): BytePath {
  if (isShownAsIs(path)) return path;
  const name = osPath(path);
  return Buffer.from(name).toString('latin1');
}

/** The path for a file system call. */
export function systemPath(path: BytePath): string | Buffer {
  return hasHighBytes.test(path) ? Buffer.from(path, 'latin1') : path;
}

/** The path as an argument of a process; `undefined` when it is not valid UTF-8. */
export function argumentFor(path: BytePath): string | undefined {
  if (!hasHighBytes.test(path)) return path;
  const bytes = Buffer.from(path, 'latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : undefined;
}

/** The path as Lathe shows and accepts it. */
export function fromBytePath(path: BytePath): string {
  return isShownAsIs(path) ? path : shownPath(Buffer.from(path, 'latin1'));
}

const hasHighBytes = /[\x80-\xff]/;

/** Printable ASCII without a backslash: nothing to escape, and only one way to spell it. */
export function isShownAsIs(path: string): boolean {
  return /^[ -[\]-~]*$/.test(path);
}

/** The directory of a path, with its slash, and the name in it. */
export function splitPath(path: BytePath): [directory: BytePath, name: string] {
  const slash = path.lastIndexOf('/') + 1;
  return [path.slice(0, slash), path.slice(slash)];
}

/** A directory with a slash at the end. */
export function asFolder(directory: BytePath): BytePath {
  return directory === '/' ? '/' : `${directory}/`;
}
