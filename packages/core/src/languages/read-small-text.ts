import { readFile, stat } from 'node:fs/promises';

const maxBytes = 1 << 20;

/** The text of a file without a byte order mark; `undefined` when it is missing or too large for a language server. */
export async function readSmallText(path: string): Promise<string | undefined> {
  try {
    const info = await stat(path);
    if (!info.isFile() || info.size > maxBytes) return undefined;
    return (await readFile(path, 'utf8')).replace(/^\ufeff/, '');
  } catch {
    return undefined;
  }
}
