import type { PartUnion } from '@lathe/core';
import { LineBuffer, parseBoundedJson } from '@lathe/core/host';

/** An object on the wire, not validated yet. */
export type Json = Readonly<Record<string, unknown>>;

const maxLineBytes = 16 * 1024 * 1024;

/** The JSON objects on stdin, one per line; a text says what is wrong with a line. */
export async function* streamMessages(stdin: AsyncIterable<Buffer>): AsyncGenerator<Json | string> {
  const buffer = new LineBuffer(maxLineBytes);
  for await (const chunk of stdin)
    for (const line of buffer.linesWith(chunk)) if (line?.trim() !== '') yield parseLine(line);
  if (!buffer.isEmpty) yield parseLine(buffer.take());
}

function parseLine(line: string | undefined): Json | string {
  if (line === undefined) return `a line has more than ${maxLineBytes} bytes`;
  const parsed = parseBoundedJson(line);
  return parsed.ok ? asObject(parsed.value) : `a line is not JSON: ${parsed.problem}`;
}

/** The content of a user message; `undefined` if it is none, or says nothing. */
export function userParts(content: unknown): PartUnion[] | undefined {
  const blocks: unknown[] = Array.isArray(content) ? content : [{ type: 'text', text: content }];
  const parts = blocks.flatMap((block) => partOf(block) ?? []);
  const isBlank = parts.every((part) => typeof part === 'string' && part.trim() === '');
  return isBlank || parts.length < blocks.length ? undefined : parts;
}

function partOf(value: unknown): PartUnion | undefined {
  const { type, text, source } = asObject(value);
  if (type === 'text' && typeof text === 'string') return text;
  const { type: encoding, data, media_type: mimeType } = asObject(source);
  if (encoding === 'text' && typeof data === 'string') return { text: data };
  return typeof data === 'string' && typeof mimeType === 'string' ? { inlineData: { mimeType, data } } : undefined;
}

/** The value, or an empty object if it is none. */
export function asObject(value: unknown): Json {
  return typeof value === 'object' ? { ...value } : {};
}
