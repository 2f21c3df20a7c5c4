import { asBuffer } from './read-bytes.js';
import type { TextCodec } from './text-bytes.js';
import type { TextEncoding } from './text-encoding.js';

/** The codec for a detected encoding, ready for use without waiting. */
export async function codecFor({ name }: TextEncoding): Promise<TextCodec> {
  if (name === 'utf-8' || name === 'utf-16le') {
    const [node, unit] = name === 'utf-8' ? (['utf8', 1] as const) : (['utf16le', 2] as const);
    return {
      unit,
      ambiguous: false,
      encode: (text) => {
        const bytes = Buffer.from(text, node);
        // In UTF-8 a lone surrogate becomes U+FFFD, whose bytes are found faster than a surrogate in the text.
        if (unit === 1 && !bytes.includes(replacement)) return bytes;
        return hasHalfPair(text) ? undefined : bytes;
      },
      decode: (bytes) => asBuffer(bytes).toString(node),
    };
  }
  const iconv = (await import('iconv-lite')).default;
  const decode = (bytes: Uint8Array) => iconv.decode(asBuffer(bytes), name, { stripBOM: false });
  return {
    unit: name.startsWith('utf-16') ? 2 : name.startsWith('utf-32') ? 4 : 1,
    ambiguous: /^(?:gb|big5|cp9|euc|shift|sjis|windows-31j|iso-2022|ks_c)/i.test(name),
    encode(text) {
      const bytes = iconv.encode(text, name, { addBOM: false });
      return hasHalfPair(text) || decode(bytes) !== text ? undefined : bytes;
    },
    decode,
  };
}

const replacement = Buffer.from('\uFFFD');

const hasHalfPair = (text: string) => /\p{Surrogate}/u.test(text);
