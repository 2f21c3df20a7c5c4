import { isUtf8 } from 'node:buffer';
import type { Yielder } from '../../async/yielder.js';
import { detectEncoding } from '../../files/read/text-encoding.js';

/**
 * The encoding of a page, as a label that `TextDecoder` knows: a byte order mark decides, then the `Content-Type`
 * header, then the `meta` tag, then the bytes themselves. UTF-8 counts only if the bytes are valid UTF-8.
 */
export async function charsetOf(bytes: Buffer, contentType: string): Promise<string> {
  const charsetOfMark = byteOrderMark(bytes);
  if (charsetOfMark !== undefined) return charsetOfMark;
  const isReallyUtf8 = isUtf8(bytes);
  const claims = [charsetIn(contentType), charsetIn(metaTag(bytes))];
  for (const claim of claims) {
    const label = claim === undefined ? undefined : canonical(claim);
    // The `meta` tag was readable as ASCII, so the page cannot be UTF-16.
    if (label === undefined || label.startsWith('utf-16')) continue;
    if (label !== 'utf-8' || isReallyUtf8) return label;
  }
  if (isReallyUtf8) return 'utf-8';
  const detected = await detectEncoding(bytes);
  return canonical(detected?.name ?? 'utf-8') ?? 'windows-1252';
}

/** Decodes in parts: with some encodings a large page would block the event loop. */
export async function decodeText(bytes: Buffer, charset: string, yielder: Yielder): Promise<string> {
  const decoder = new TextDecoder(charset);
  const parts: string[] = [];
  for (let at = 0; at < bytes.length; at += partLength) {
    parts.push(decoder.decode(bytes.subarray(at, at + partLength), { stream: true }));
    if (yielder.shouldYield) await yielder.yield();
  }
  parts.push(decoder.decode());
  return parts.join('');
}

const partLength = 64 * 1024;

function byteOrderMark(bytes: Buffer): string | undefined {
  const start = bytes.toString('latin1', 0, 3);
  if (start === '\xef\xbb\xbf') return 'utf-8';
  if (start.startsWith('\xff\xfe')) return 'utf-16le';
  return start.startsWith('\xfe\xff') ? 'utf-16be' : undefined;
}

function metaTag(bytes: Buffer): string {
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
