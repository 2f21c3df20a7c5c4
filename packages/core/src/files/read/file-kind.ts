/** The kind of a file by its first bytes. Names can be wrong, and an API rejects an image that is something else. */
export type FileKind =
  | { type: 'image' | 'audio' | 'video'; mimeType: string }
  | { type: 'pdf'; mimeType: 'application/pdf' }
  /** A known format that is neither text nor media. */
  | { type: 'binary'; format: string }
  | { type: 'other' };

export function fileKindOf(head: Uint8Array): FileKind {
  const start = Buffer.from(head.buffer, head.byteOffset, Math.min(head.byteLength, 512)).toString('latin1');
  const signature = signatures.find(([, at, text]) => start.startsWith(text, at));
  if (signature !== undefined) return kindOf(signature[0]);
  const container = containerType(start);
  return container === undefined ? { type: 'other' } : kindOf(container);
}

function kindOf(name: string): FileKind {
  const [group] = name.split('/');
  if (name === 'application/pdf') return { type: 'pdf', mimeType: name };
  if (group === 'image' || group === 'audio' || group === 'video') return { type: group, mimeType: name };
  return { type: 'binary', format: name };
}

/** Type, position, and the bytes there as Latin-1 text. */
const signatures: readonly [type: string, at: number, text: string][] = [
  ['image/png', 0, '\x89PNG\r\n\x1a\n'],
  ['image/jpeg', 0, '\xff\xd8\xff'],
  ['image/gif', 0, 'GIF87a'],
  ['image/gif', 0, 'GIF89a'],
  ['image/tiff', 0, 'II*\0'],
  ['image/tiff', 0, 'MM\0*'],
  ['image/x-icon', 0, '\0\0\x01\0'],
  ['application/pdf', 0, '%PDF-'],
  ['audio/flac', 0, 'fLaC'],
  ['audio/ogg', 0, 'OggS'],
  ['audio/mpeg', 0, 'ID3\x02'],
  ['audio/mpeg', 0, 'ID3\x03'],
  ['audio/mpeg', 0, 'ID3\x04'],
  ['audio/mpeg', 0, '\xff\xfb'],
  ['audio/mpeg', 0, '\xff\xf3'],
  ['audio/mpeg', 0, '\xff\xf2'],
  ['audio/aac', 0, '\xff\xf1'],
  ['audio/aac', 0, '\xff\xf9'],
  ['video/webm', 0, '\x1a\x45\xdf\xa3'],
  ['gzip archive', 0, '\x1f\x8b\x08'],
  ['zip archive or document', 0, 'PK\x03\x04'],
  ['zip archive', 0, 'PK\x05\x06'],
  ['7-Zip archive', 0, '7z\xbc\xaf\x27\x1c'],
  ['xz archive', 0, '\xfd7zXZ\0'],
  ['zstd archive', 0, '\x28\xb5\x2f\xfd'],
  ['RAR archive', 0, 'Rar!\x1a\x07'],
  ['tar archive', 257, 'ustar'],
  ['ELF program', 0, '\x7fELF'],
  ['Mach-O program', 0, '\xcf\xfa\xed\xfe'],
  ['Java class or Mach-O program', 0, '\xca\xfe\xba\xbe'],
  ['WebAssembly module', 0, '\0asm'],
  ['SQLite database', 0, 'SQLite format 3\0'],
];

/** Formats that say what they hold some bytes further in. */
function containerType(start: string): string | undefined {
  const text = (at: number, length: number) => start.slice(at, at + length);
  if (text(0, 4) === 'RIFF') return riffTypes[text(8, 4)];
  if (text(0, 4) === 'FORM' && /^AIF[FC]$/.test(text(8, 4))) return 'audio/aiff';
  if (text(4, 4) === 'ftyp') return brandTypes[text(8, 4)] ?? 'video/mp4';
  // "BM" alone begins many a text; a bitmap has four zero bytes after its size.
  return text(0, 2) === 'BM' && text(6, 4) === '\0\0\0\0' ? 'image/bmp' : undefined;
}

const riffTypes: Record<string, string> = { WEBP: 'image/webp', WAVE: 'audio/wav', 'AVI ': 'video/x-msvideo' };
const brandTypes: Record<string, string> = {
  avif: 'image/avif',
  avis: 'image/avif',
  heic: 'image/heic',
  heix: 'image/heic',
  mif1: 'image/heif',
  'M4A ': 'audio/mp4',
  'M4B ': 'audio/mp4',
  'qt  ': 'video/quicktime',
};
