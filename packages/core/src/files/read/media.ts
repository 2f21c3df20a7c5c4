import type { Part } from '../../contract/content.js';
import { type ReadableFile, readWhole } from '../open-file.js';
import type { FileKind } from './file-kind.js';

export type Media = { type: 'media'; part: Part; kind: string } | { type: 'note'; text: string };

/** No provider accepts more in a request. */
const maxMediaBytes = 10_000_000;
const maxPixels = 50_000_000;
const maxSide = 30_000;

/** An image, audio, video or PDF file as a part of the answer, or a note that says why it is left out. */
export async function readMedia(
  file: ReadableFile,
  kind: Exclude<FileKind, { type: 'binary' | 'other' }>,
  maxBytes = maxMediaBytes,
): Promise<Media> {
  const limit = Math.min(maxBytes, maxMediaBytes);
  const size = Number(file.stat.size);
  const what = `${file.path} (${kind.mimeType}, ${size} bytes)`;
  if (size > limit) {
    const hint = kind.type === 'pdf' ? ' Read its text with `pages`.' : '';
    return { type: 'note', text: `${what} is too large to be shown: the limit is ${limit} bytes.${hint}` };
  }
  const bytes = await readWhole(file.fd, file.stat.size);
  const fault = kind.type === 'image' ? imageFault(bytes, kind.mimeType) : undefined;
  if (fault !== undefined) return { type: 'note', text: `${what} is not shown: ${fault}.` };
  return {
    type: 'media',
    kind: kind.type,
    part: { inlineData: { mimeType: kind.mimeType, data: bytes.toString('base64') } },
  };
}

/** Why an image is not sent, by its header: a provider rejects the whole request for an image it does not accept. */
export function imageFault(bytes: Buffer, mimeType: string): string | undefined {
  if (!knowsImage(mimeType)) return 'models look at PNG, JPEG, GIF and WebP images only; convert it first';
  const size = imageSize(bytes, mimeType);
  if (size === undefined) return 'its header is damaged';
  const { width, height } = size;
  const isHuge = width * height > maxPixels || Math.max(width, height) > maxSide;
  return isHuge ? `${width} x ${height} pixels are too many` : undefined;
}

/** Width and height from an image's header, without decoding a pixel; `undefined` when the header is damaged. */
export function imageSize(bytes: Buffer, mimeType: string): { width: number; height: number } | undefined {
  try {
    const size = readers[mimeType]?.(bytes);
    return size !== undefined && size.width > 0 && size.height > 0 ? size : undefined;
  } catch (error) {
    // The header promises more bytes than there are.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Whether every model that accepts images accepts this kind. */
function knowsImage(mimeType: string): boolean {
  return mimeType in readers;
}

type Size = { width: number; height: number };

const readers: Record<string, (bytes: Buffer) => Size | undefined> = {
  'image/png': (bytes) =>
    bytes.toString('latin1', 12, 16) === 'IHDR'
      ? { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) }
      : undefined,
  'image/gif': (bytes) => ({ width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) }),
  'image/webp': webpSize,
  'image/jpeg': jpegSize,
};

function webpSize(bytes: Buffer): Size | undefined {
  switch (bytes.toString('latin1', 12, 16)) {
    case 'VP8 ':
      return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
    case 'VP8L': {
      const bits = bytes.readUInt32LE(21);
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    case 'VP8X':
      return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
    default:
      return undefined;
  }
}

/** Walks the segments of a JPEG to the first frame header. */
function jpegSize(bytes: Buffer): Size | undefined {
  for (let at = 2; at + 9 < bytes.length; ) {
    if (bytes[at] !== 0xff) return undefined;
    const marker = bytes.readUInt8(at + 1);
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return { width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) };
    at += marker === 0xff ? 1 : 2 + bytes.readUInt16BE(at + 2);
  }
  return undefined;
}
