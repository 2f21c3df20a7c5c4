import type { Part } from '../../contract/content.js';
import { type ReadableFile, readWhole } from '../open-file.js';
import type { FileKind } from './file-kind.js';
import { imageSize, knowsImage } from './image-size.js';

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
