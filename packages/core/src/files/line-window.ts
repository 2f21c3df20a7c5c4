import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { systemPath } from './byte-path.js';
import { maxColumns, type RgLine } from './rg-output.js';

const before = 100;
const width = 320;

/** A line as the model sees it: whole when short, otherwise the part around its first match. */
export async function lineText(line: RgLine): Promise<string> {
  const { text, column } = line;
  const isPreview = text.length > maxColumns;
  const start = Math.max(0, column - 1 - before);
  if (!isPreview && text.length <= width) return text.toString('utf8').replace(/\r$/, '');
  if (!isPreview || start + width <= maxColumns) return cut(text.subarray(start, start + width), start > 0, true);
  const around = await readAround(line, start).catch(() => undefined);
  if (around !== undefined) return cut(around.subarray(0, width), true, true);
  return `${cut(text.subarray(0, width), false, true)} (match at byte ${column})`;
}

/** Characters that the cut went through are left out. */
function cut(bytes: Buffer, hasMoreBefore: boolean, hasMoreAfter: boolean): string {
  const text = bytes.toString('utf8');
  const clean = (hasMoreBefore ? text.replace(/^\uFFFD{1,3}/, '') : text).replace(/\uFFFD{1,3}$/, '');
  return `${hasMoreBefore ? '…' : ''}${clean}${hasMoreAfter ? '…' : ''}`;
}

/** The bytes from `start` of the line, read from the file itself; `undefined` for files that ripgrep had to recode. */
async function readAround({ path, offset }: RgLine, start: number): Promise<Buffer | undefined> {
  const handle = await open(systemPath(path), constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  try {
    if (!(await handle.stat()).isFile()) return undefined;
    const mark = Buffer.alloc(3);
    await handle.read(mark, 0, 3, 0);
    if (mark.readUInt16BE(0) === 0xfffe || mark.readUInt16BE(0) === 0xfeff) return undefined;
    const skipped = mark.toString('latin1') === '\xef\xbb\xbf' ? 3 : 0;
    const bytes = Buffer.alloc(width);
    const { bytesRead } = await handle.read(bytes, 0, width, skipped + offset + start);
    const lineEnd = bytes.indexOf('\n');
    return bytes.subarray(0, lineEnd < 0 ? bytesRead : lineEnd);
  } finally {
    await handle.close();
  }
}
