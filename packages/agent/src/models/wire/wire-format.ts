import type { Part } from '@lathe/core';
import type { JsonObject } from '../json.js';
import type { ModelFeatures, ModelRequest } from '../model.js';
import type { Answer } from './answer.js';

/** Where and as whom a model is asked. */
export interface Endpoint {
  provider: string;
  /** Without the path of the operation: `https://api.openai.com/v1`. */
  baseUrl: string;
  apiKey?: string | undefined;
  /** The variable the key comes from, for messages. */
  keyVariable?: string | undefined;
  headers?: Readonly<Record<string, string>> | undefined;
  model: string;
  maxOutputTokens?: number | undefined;
  supports: ModelFeatures;
}

/** How one family of servers wants to be asked, and how its chunks are read. */
export interface WireFormat {
  path(endpoint: Endpoint): string;
  headers(endpoint: Endpoint): Record<string, string>;
  body(request: ModelRequest, endpoint: Endpoint): object;
  /** Tells the answer what a chunk holds; throws a `ModelError` when the chunk reports a failure. */
  read(chunk: JsonObject, answer: Answer, endpoint: Endpoint): void;
}

/** What stands in the place of something the model cannot see. */
export function omitted(part: Part): string {
  const type = part.inlineData?.mimeType ?? part.fileData?.mimeType ?? 'unknown type';
  const name = part.inlineData?.displayName ?? part.fileData?.displayName;
  return `[${name ? `${name}, ` : ''}${type}: this model cannot see it]`;
}

export function canSee(mimeType: string, supports: ModelFeatures): boolean {
  if (mimeType.startsWith('image/')) return supports.images;
  return mimeType === 'application/pdf' && supports.pdf;
}

/** For providers without a schema for text, or none that goes together with tools. */
export function withSchemaInstruction(request: ModelRequest): string {
  if (request.responseSchema === undefined) return request.system;
  const schema = JSON.stringify(request.responseSchema);
  return `${request.system}\n\nYour final answer is one JSON value, without a fence or other text, valid under this schema:\n${schema}`;
}
