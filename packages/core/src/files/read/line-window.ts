import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { fromBytePath, systemPath } from '../byte-path.js';
import { isAtPath } from '../open-file.js';
import { maxColumns, type RgLine } from '../search/rg-output.js';

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

/** The line from `start`, a little more than is shown, read from the file; `undefined` if that would take long. */
async function readAround({ path, offset }: RgLine, start: number): Promise<Buffer | undefined> {
  const handle = await open(systemPath(path), openFlags);
  try {
    const stat = await handle.stat({ bigint: true });
    if (!stat.isFile() || !(await isAtPath(handle.fd, stat, fromBytePath(path)))) return undefined;
    const mark = Buffer.alloc(3);
    await handle.read(mark, 0, 3, 0);
    const bytes = await readFrom(handle, offset + start, mark);
    const lineEnd = bytes?.indexOf('\n') ?? -1;
    return bytes && withoutReturn(lineEnd < 0 ? bytes : bytes.subarray(0, lineEnd));
  } finally {
    await handle.close();
  }
}

const wanted = width + 2;

function readFrom(handle: FileHandle, position: number, mark: Buffer): Promise<Buffer | undefined> {
  switch (mark.readUInt16BE(0)) {
    case 0xfffe:
      return readRecoded(handle, position, 'utf-16le');
    case 0xfeff:
      return readRecoded(handle, position, 'utf-16be');
    default:
      return readPlain(handle, position + (mark.toString('latin1') === '\xef\xbb\xbf' ? mark.length : 0));
  }
}

async function readPlain(handle: FileHandle, position: number): Promise<Buffer> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(wanted), 0, wanted, position);
  return buffer.subarray(0, bytesRead);
}

const chunkBytes = 256 << 10;
const maxRecoded = 4 << 20;

/** Ripgrep counts the bytes of the text as UTF-8, so everything before it is recoded. */
async function readRecoded(handle: FileHandle, position: number, encoding: string): Promise<Buffer | undefined> {
  const decoder = new TextDecoder(encoding);
  let found = Buffer.alloc(0);
  let seen = 0;
  for (let at = 0; at < maxRecoded; at += chunkBytes) {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(chunkBytes), 0, chunkBytes, at);
    const text = Buffer.from(decoder.decode(buffer.subarray(0, bytesRead), { stream: bytesRead === chunkBytes }));
    found = Buffer.concat([found, text.subarray(Math.max(0, position - seen), position - seen + wanted)]);
    seen += text.length;
    if (bytesRead < chunkBytes || found.length >= wanted) return found.subarray(0, wanted);
  }
  return undefined;
}
