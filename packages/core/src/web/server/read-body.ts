import type { IncomingMessage } from 'node:http';
import { type ParsedJson, parseBoundedJson } from '../../text/parse-json.js';

/** The body of a request as JSON; its value is `undefined` if it has none. Reads no more than `maxBytes`. */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<ParsedJson | 'too-long'> {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) return 'too-long';
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maxBytes) return 'too-long';
    chunks.push(chunk);
  }
  return length === 0 ? { ok: true, value: undefined } : parseBoundedJson(Buffer.concat(chunks).toString('utf8'));
}
