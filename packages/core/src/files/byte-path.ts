import { isUtf8 } from 'node:buffer';
import { osPath, shownPath } from './file-name.js';

/**
 * A path as the operating system has it, one character per byte (`latin1`). Walking a tree in this form loses nothing,
 * compares bytes as git does, and costs one byte per character.
 */
export type BytePath = string;

export function toBytePath(path: string): BytePath {
  if (isShownAsIs(path)) return path;
  const name = osPath(path);
  return Buffer.from(name).toString('latin1');
}

/** What file system calls are given. */
export function systemPath(path: BytePath): string | Buffer {
  return hasHighBytes.test(path) ? Buffer.from(path, 'latin1') : path;
}

/** What a process is given: arguments are text; `undefined` for bytes that are not. */
export function argumentFor(path: BytePath): string | undefined {
  if (!hasHighBytes.test(path)) return path;
  const bytes = Buffer.from(path, 'latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : undefined;
}

/** The path as Lathe shows it and takes it back. */
export function fromBytePath(path: BytePath): string {
  return isShownAsIs(path) ? path : shownPath(Buffer.from(path, 'latin1'));
}

const hasHighBytes = /[\x80-\xff]/;

/** Printed ASCII without a backslash: nothing that is escaped, and nothing that Unicode could spell in another way. */
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
