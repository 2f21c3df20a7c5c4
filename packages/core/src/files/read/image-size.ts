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
export function knowsImage(mimeType: string): boolean {
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
