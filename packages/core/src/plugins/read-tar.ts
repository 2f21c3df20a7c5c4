import { gunzipSync } from 'node:zlib';
import { PluginFileSet, type PluginFiles } from './plugin-files.js';

const block = 512;
const maxHeaderBytes = 16 * 1024;
/** The archive may hold headers and padding beside the files. */
const maxArchiveBytes = 40 * 1024 * 1024;

/**
 * Reads a tar archive, plain or compressed by gzip, into memory: ustar with the long names of GNU and pax. Symlinks, hard
 * links and devices are refused.
 */
export function readTar(bytes: Buffer): PluginFiles {
  const tar = bytes[0] === 0x1f && bytes[1] === 0x8b ? unzip(bytes) : bytes;
  const set = new PluginFileSet();
  let longName: string | undefined;
  for (let at = 0; at + block <= tar.length; ) {
    const header = tar.subarray(at, at + block);
    if (header.every((byte) => byte === 0)) break;
    const { type, content } = readEntry(tar, at);
    at += block + Math.ceil(content.length / block) * block;
    if (type === 'L') longName = text(content);
    else if (type === 'x') longName = paxPath(content) ?? longName;
    else {
      const path = (longName ?? headerName(header)).replace(/^(?:\.\/)+/, '');
      longName = undefined;
      // A folder, or a comment on the whole archive.
      if (type === '5' || type === 'g') continue;
      if (type !== '0' && type !== '\0')
        throw new Error(`${JSON.stringify(path)} is refused: it is not a regular file`);
      set.add(path, { content: Buffer.from(content), isExecutable: (octal(header, 100, 8) & 0o100) !== 0 });
    }
  }
  if (set.files.size === 0) throw new Error('it is not a tar archive, or an empty one');
  return set.files;
}

function readEntry(tar: Buffer, at: number): { type: string; content: Buffer } {
  const header = tar.subarray(at, at + block);
  const plain = Buffer.from(header).fill(0x20, 148, 156);
  const sum = plain.reduce((total, byte) => total + byte, 0);
  if (sum !== octal(header, 148, 8)) throw new Error('it is not a tar archive, or damaged');
  const size = octal(header, 124, 12);
  const content = tar.subarray(at + block, at + block + size);
  if (content.length < size) throw new Error('the archive is cut off');
  const type = String.fromCharCode(header[156] ?? 0);
  if ((type === 'L' || type === 'x') && size > maxHeaderBytes) throw new Error('a name in it is too long');
  return { type, content };
}

function unzip(bytes: Buffer): Buffer {
  try {
    return gunzipSync(bytes, { maxOutputLength: maxArchiveBytes });
  } catch (error) {
    const isLarge = error instanceof RangeError;
    throw new Error(isLarge ? 'it unpacks to too much' : 'it cannot be unpacked', { cause: error });
  }
}

function octal(bytes: Buffer, start: number, length: number): number {
  const digits = text(bytes.subarray(start, start + length)).trim();
  if (!/^[0-7]{0,11}$/.test(digits)) throw new Error('it is not a tar archive, or damaged');
  return digits === '' ? 0 : Number.parseInt(digits, 8);
}

function text(field: Buffer): string {
  const end = field.indexOf(0);
  return field.toString('utf8', 0, end < 0 ? field.length : end);
}

function headerName(header: Buffer): string {
  const prefix = header.toString('latin1', 257, 262) === 'ustar' ? text(header.subarray(345, 500)) : '';
  const name = text(header.subarray(0, 100));
  return prefix === '' ? name : `${prefix}/${name}`;
}

/** The record `path=…` of a pax header: `LENGTH KEY=VALUE\n`, the length in bytes and of the whole record. */
function paxPath(content: Buffer): string | undefined {
  for (let at = 0; at < content.length; ) {
    const length = Number.parseInt(content.toString('latin1', at, at + 10), 10);
    if (!(length > 0)) return undefined;
    const [, key, value] = /^\d+ ([^=]+)=([\s\S]*)\n$/.exec(content.toString('utf8', at, at + length)) ?? [];
    if (key === 'path') return value;
    at += length;
  }
  return undefined;
}

/** Without the folder that holds everything, as archives of GitHub and npm have one. */
export function withoutTopFolder(files: PluginFiles): PluginFiles {
  const [first = ''] = files.keys();
  const below = filesBelow(files, first.slice(0, first.indexOf('/') + 1));
  return below.size === files.size ? below : files;
}

/** The files whose paths begin like this, without that beginning. */
export function filesBelow(files: PluginFiles, prefix: string): PluginFiles {
  const own = [...files].filter(([path]) => path.startsWith(prefix));
  return new Map(own.map(([path, file]) => [path.slice(prefix.length), file]));
}
