import { UsageError } from './args.js';

/** Reads a stream to its end. More than `maxBytes` is a usage error with this message. */
export async function readAll(stream: AsyncIterable<Buffer>, maxBytes: number, tooLong: string): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    size += chunk.length;
    if (size > maxBytes) throw new UsageError(tooLong);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
