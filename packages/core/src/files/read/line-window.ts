import { fromBytePath } from '../byte-path.js';
import { readFully, withReadableFile } from '../open-file.js';
import { maxColumns, type RgLine } from '../search/rg-output.js';

const before = 100;
const width = 320;

/** A line as the model sees it: whole when short, otherwise the part around its first match. */
export async function lineText(line: RgLine): Promise<string> {
  const text = withoutReturn(line.text);
  if (text.length <= width) return text.toString('utf8');
  const isPreview = text.length > maxColumns;
  const start = Math.max(0, line.column - 1 - before);
  // A preview may lack only the line end, which ripgrep counts too.
  if (!isPreview || start + width <= maxColumns - '\r\n'.length) return cut(text.subarray(start), start > 0);
  const around = await readAround(line, start).catch(() => undefined);
  if (around !== undefined) return cut(around, true);
  return `${cut(text, false)} (match at byte ${line.column})`;
}

/** The carriage return of a line that ends in CRLF is not part of it. */
function withoutReturn(line: Buffer): Buffer {
  return line.at(-1) === 0x0d ? line.subarray(0, -1) : line;
}

/** The shown part. Split characters are dropped. */
function cut(bytes: Buffer, hasMoreBefore: boolean): string {
  const hasMoreAfter = bytes.length > width;
  const text = bytes.toString('utf8', 0, width);
  const begun = hasMoreBefore ? `…${text.replace(/^\uFFFD{1,3}/, '')}` : text;
  return hasMoreAfter ? `${begun.replace(/\uFFFD{1,3}$/, '')}…` : begun;
}

/** The line from `start`, a little more than is shown, read from the file; `undefined` if that would take long. */
function readAround({ path, offset }: RgLine, start: number): Promise<Buffer | undefined> {
  return withReadableFile(fromBytePath(path), async ({ fd }) => {
    const mark = await readFully(fd, Buffer.alloc(3), 0, 3);
    const bytes = await readFrom(fd, offset + start, mark.toString('latin1'));
    const lineEnd = bytes?.indexOf('\n') ?? -1;
    return bytes && withoutReturn(lineEnd < 0 ? bytes : bytes.subarray(0, lineEnd));
  });
}

const wanted = width + 2;

async function readFrom(fd: number, position: number, mark: string): Promise<Buffer | undefined> {
  if (mark.startsWith('\xff\xfe')) return readRecoded(fd, position, 'utf-16le');
  if (mark.startsWith('\xfe\xff')) return readRecoded(fd, position, 'utf-16be');
  const markBytes = mark === '\xef\xbb\xbf' ? mark.length : 0;
  return readFully(fd, Buffer.alloc(wanted), position + markBytes, wanted);
}

const chunkBytes = 256 << 10;
const maxRecoded = 4 << 20;

/** ripgrep counts bytes of UTF-8, so everything before the position is recoded. */
async function readRecoded(fd: number, position: number, encoding: string): Promise<Buffer | undefined> {
  const decoder = new TextDecoder(encoding);
  let found = Buffer.alloc(0);
  let seen = 0;
  for (let at = 0; at < maxRecoded; at += chunkBytes) {
    const bytes = await readFully(fd, Buffer.alloc(chunkBytes), at, chunkBytes);
    const text = Buffer.from(decoder.decode(bytes, { stream: bytes.length === chunkBytes }));
    found = Buffer.concat([found, text.subarray(Math.max(0, position - seen), position - seen + wanted)]);
    seen += text.length;
    if (bytes.length < chunkBytes || found.length >= wanted) return found.subarray(0, wanted);
  }
  return undefined;
}
