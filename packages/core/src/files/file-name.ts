import { isUtf8 } from 'node:buffer';

/**
 * File names are bytes; paths in Lathe are strings. Invalid UTF-8, control characters and characters that reorder text
 * are written as `\xHH`, so that every name fits on one line and can be passed back. A backslash is escaped only where
 * it would look like such an escape. Windows names are text already and stay as they are.
 */
export function shownPath(bytes: Buffer): string {
  if (isWindows) return bytes.toString('utf8');
  return isUtf8(bytes) ? escapeText(bytes.toString('utf8')) : escapeBytes(bytes);
}

/** A shown path for the operating system: the same string, or bytes when the path has escapes. */
export function osPath(path: string): string | Buffer {
  if (isWindows || !path.includes('\\x')) return path;
  const pieces = path.split(escapeSequence);
  return Buffer.concat(pieces.map((piece, index) => Buffer.from(piece, index % 2 === 0 ? 'utf8' : 'hex')));
}

/** The canonical spelling of a path that a person or a model wrote: escapes only where they are needed. */
export function canonicalSpelling(path: string): string {
  const os = osPath(path);
  return shownPath(typeof os === 'string' ? Buffer.from(os) : os);
}

const isWindows = process.platform === 'win32';
const escapeSequence = /\\x([0-9A-Fa-f]{2})/;

// Control characters, line separators, and the marks and overrides that change the direction of text.
const escaped = /[\p{Cc}\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069\uFEFF]|\\(?=x[0-9A-Fa-f]{2})/gu;

function escapeText(text: string): string {
  return text.replace(escaped, (character) => escapeEach(Buffer.from(character)));
}

/** Keeps the runs that are valid UTF-8 and escapes what is between them. */
function escapeBytes(bytes: Buffer): string {
  let shown = '';
  let runStart = 0;
  for (let at = 0; at < bytes.length; ) {
    const length = characterLength(bytes, at);
    if (length === 0) {
      shown += escapeText(bytes.toString('utf8', runStart, at)) + escapeEach(bytes.subarray(at, at + 1));
      runStart = at + 1;
    }
    at += length || 1;
  }
  return shown + escapeText(bytes.toString('utf8', runStart));
}

/** Bytes of the UTF-8 character at `at`, 0 when there is none. */
function characterLength(bytes: Buffer, at: number): number {
  return [1, 2, 3, 4].find((size) => at + size <= bytes.length && isUtf8(bytes.subarray(at, at + size))) ?? 0;
}

function escapeEach(bytes: Buffer): string {
  return bytes.toString('hex').toUpperCase().replace(/../g, '\\x$&');
}
