import { readFile, stat } from 'node:fs/promises';
import { codecFor, detectEncoding } from '../files/read/text-encoding.js';

const maxBytes = 1 << 20;

/** The text of a file without a byte order mark; `undefined` when it is missing, no text or too large for a server. */
export async function readSmallText(path: string): Promise<string | undefined> {
  try {
    const info = await stat(path);
    if (!info.isFile() || info.size > maxBytes) return undefined;
    const bytes = await readFile(path);
    const encoding = await detectEncoding(bytes);
    return encoding && (await codecFor(encoding)).decode(bytes.subarray(encoding.bom.length));
  } catch {
    return undefined;
  }
}
