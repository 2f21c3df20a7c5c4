import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { fromBytePath, systemPath } from './byte-path.js';
import { isAtPath } from './open-file.js';
import { maxColumns, type RgLine } from './rg-output.js';

const before = 100;
const width = 320;

/** A line as the model sees it: whole when short, otherwise the part around its first match. */
export async function lineText(line: RgLine): Promise<string> {
  const text = withoutReturn(line.text);
  if (text.length <= width) return text.toString('utf8');
  const isPreview = text.length > maxColumns;
  const start = Math.max(0, line.column - 1 - before);
  // A preview may lack no more than the line end, which ripgrep counts too.
  if (!isPreview || start + width <= maxColumns - '\r\n'.length) return cut(text.subarray(start), start > 0);
  const around = await readAround(line, start).catch(() => undefined);
  if (around !== undefined) return cut(around, true);
  return `${cut(text, false)} (match at byte ${line.column})`;
}

/** The carriage return of a line that ends in CRLF is no part of it. */
function withoutReturn(line: Buffer): Buffer {
  return line.at(-1) === 0x0d ? line.subarray(0, -1) : line;
}

/** As much as is shown. Characters that a cut went through are left out. */
function cut(bytes: Buffer, hasMoreBefore: boolean): string {
  const hasMoreAfter = bytes.length > width;
  const text = bytes.toString('utf8', 0, width);
  const begun = hasMoreBefore ? `…${text.replace(/^\uFFFD{1,3}/, '')}` : text;
  return hasMoreAfter ? `${begun.replace(/\uFFFD{1,3}$/, '')}…` : begun;
}

const openFlags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY | constants.O_NOFOLLOW;

/** The line from `start`, a little more than is shown, read from the file; `undefined` if ripgrep had to recode it. */
async function readAround({ path, offset }: RgLine, start: number): Promise<Buffer | undefined> {
  const handle = await open(systemPath(path), openFlags);
  try {
    const stat = await handle.stat({ bigint: true });
    if (!stat.isFile() || !(await isAtPath(handle.fd, stat, fromBytePath(path)))) return undefined;
    const mark = Buffer.alloc(3);
    await handle.read(mark, 0, 3, 0);
    if (mark.readUInt16BE(0) === 0xfffe || mark.readUInt16BE(0) === 0xfeff) return undefined;
    const skipped = mark.toString('latin1') === '\xef\xbb\xbf' ? 3 : 0;
    const bytes = Buffer.alloc(width + 2);
    const { bytesRead } = await handle.read(bytes, 0, bytes.length, skipped + offset + start);
    const lineEnd = bytes.indexOf('\n');
    return withoutReturn(bytes.subarray(0, lineEnd < 0 ? bytesRead : lineEnd));
  } finally {
    await handle.close();
  }
}
