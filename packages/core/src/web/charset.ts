import { isUtf8 } from 'node:buffer';
import type { Pace } from '../files/pace.js';
import { detectEncoding } from '../files/text-encoding.js';

/**
 * The encoding of a page, as a label that `TextDecoder` knows: a byte order mark decides, then what the server says,
 * then what the page says, then the bytes themselves. A claim of UTF-8 that the bytes refute does not count.
 */
export async function charsetOf(bytes: Buffer, contentType: string): Promise<string> {
  const mark = markOf(bytes);
  if (mark !== undefined) return mark;
  const isReallyUtf8 = isUtf8(bytes);
  const claims = [charsetIn(contentType), charsetIn(metaOf(bytes))];
  for (const claim of claims) {
    const label = claim === undefined ? undefined : canonical(claim);
    // A page whose own text was readable as ASCII so far cannot be UTF-16.
    if (label === undefined || label.startsWith('utf-16')) continue;
    if (label !== 'utf-8' || isReallyUtf8) return label;
  }
  if (isReallyUtf8) return 'utf-8';
  const detected = await detectEncoding(bytes);
  return canonical(detected?.name ?? 'utf-8') ?? 'windows-1252';
}

/** Decodes a part at a time: some encodings take a long breath for all of a large page. */
export async function decodeText(bytes: Buffer, charset: string, pace: Pace): Promise<string> {
  const decoder = new TextDecoder(charset);
  const parts: string[] = [];
  for (let at = 0; at < bytes.length; at += partLength) {
    parts.push(decoder.decode(bytes.subarray(at, at + partLength), { stream: true }));
    if (pace.isTired) await pace.rest();
  }
  parts.push(decoder.decode());
  return parts.join('');
}

const partLength = 64 * 1024;

function markOf(bytes: Buffer): string | undefined {
  const start = bytes.toString('latin1', 0, 3);
  if (start === '\xef\xbb\xbf') return 'utf-8';
  if (start.startsWith('\xff\xfe')) return 'utf-16le';
  return start.startsWith('\xfe\xff') ? 'utf-16be' : undefined;
}

function metaOf(bytes: Buffer): string {
  const head = bytes.toString('latin1', 0, 4096).replace(/<!--[\s\S]{0,4096}?-->/g, '');
  return /<meta\b[^>]{0,500}charset[^>]{0,200}>|<\?xml[^>]{0,200}encoding[^>]{0,200}>/i.exec(head)?.[0] ?? '';
}

function charsetIn(text: string): string | undefined {
  return /(?:charset|encoding)\s*=\s*["']?\s*([\w.:-]{2,40})/i.exec(text)?.[1];
}

function canonical(label: string): string | undefined {
  try {
    return new TextDecoder(label).encoding;
  } catch {
    return undefined;
  }
}
