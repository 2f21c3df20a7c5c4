import { addAbortSignal, pipeline, type Readable, type Transform } from 'node:stream';
import * as zlib from 'node:zlib';
import { ToolError } from '../../contract/errors.js';

export interface Body {
  bytes: Buffer;
  /** The body was longer; the rest was not read. */
  isCut: boolean;
}

const maxCodings = 2;

/** The codings that this version of Node can decode, as an Accept-Encoding header. */
export const acceptedCodings = `gzip, br${'createZstdDecompress' in zlib ? ', zstd' : ''}`;

/** Reads and decompresses at most `maxBytes` of a body, so a decompression bomb is cut like any long page. */
export async function readBody(
  source: Readable,
  contentEncoding: string,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Body> {
  // An error in any stream reaches the last one, and closing the last one closes all.
  const decoded = decodersFor(contentEncoding).reduce<Readable>(
    (stream, decoder) => pipeline(stream, decoder, () => {}),
    addAbortSignal(signal, source),
  );
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of decoded) {
    chunks.push(chunk.subarray(0, maxBytes - size));
    size += chunk.length;
    if (size > maxBytes) break;
    signal.throwIfAborted();
  }
  return { bytes: Buffer.concat(chunks), isCut: size > maxBytes };
}

/** The decoders of the codings, last applied first. */
function decodersFor(contentEncoding: string): Transform[] {
  const codings = contentEncoding
    .toLowerCase()
    .split(',')
    .map((coding) => coding.trim())
    .filter((coding) => coding !== '' && coding !== 'identity');
  if (codings.length > maxCodings)
    throw new ToolError(
      'web_fetch_fallback_failed',
      `The page is compressed ${codings.length} times; at most ${maxCodings} are supported.`,
    );
  return codings.toReversed().map((coding) => {
    const decoder = decoderFor(coding);
    if (decoder) return decoder;
    throw new ToolError(
      'web_fetch_fallback_failed',
      `The page has the unknown content coding "${coding.slice(0, 40)}".`,
    );
  });
}

function decoderFor(coding: string): Transform | undefined {
  if (/^(?:x-)?gzip$|^deflate$/.test(coding)) return zlib.createUnzip();
  if (coding === 'br') return zlib.createBrotliDecompress();
  // Available since Node 22.15. Every zstd decoder must support a window of 8 MB.
  const create: unknown = Reflect.get(zlib, 'createZstdDecompress');
  const windowLog: unknown = Reflect.get(zlib.constants, 'ZSTD_d_windowLogMax');
  if (coding !== 'zstd' || typeof create !== 'function' || typeof windowLog !== 'number') return undefined;
  return create({ params: { [windowLog]: 23 } });
}
