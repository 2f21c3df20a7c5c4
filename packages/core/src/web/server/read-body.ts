import type { IncomingMessage } from 'node:http';
import { type ParsedJson, parseBoundedJson } from '../../text/parse-json.js';

/** The body of a request as JSON; `undefined` if it has none. Reads no more than `maxBytes`. */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<ParsedJson> {
  const problem = `it has more than ${maxBytes} bytes`;
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) return { ok: false, problem };
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maxBytes) return { ok: false, problem };
    chunks.push(chunk);
  }
  return length === 0 ? { ok: true, value: undefined } : parseBoundedJson(Buffer.concat(chunks).toString('utf8'));
}
