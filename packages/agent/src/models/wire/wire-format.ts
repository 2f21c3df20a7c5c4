import type { Part } from '@lathe/core';
import type { JsonObject } from '../json.js';
import type { ModelFeatures, ModelRequest } from '../model.js';
import type { Answer } from './answer.js';

/** A family of servers, by what requests and answers look like: `chat` is that of most of them. */
export const wireNames = ['chat', 'responses', 'messages', 'gemini'] as const;
export type WireName = (typeof wireNames)[number];

/** Where a model is, and the credentials for it. */
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

/** How to write requests for one family of servers, and how to read its chunks. */
export interface WireFormat {
  readonly name: WireName;
  path(endpoint: Endpoint): string;
  headers(endpoint: Endpoint): Record<string, string>;
  body(request: ModelRequest, endpoint: Endpoint): object;
  /** Adds the content of a chunk to the answer. Throws a `ModelError` when the chunk reports a failure. */
  read(chunk: JsonObject, answer: Answer, endpoint: Endpoint): void;
}

/** The text that replaces media which the model cannot see. */
export function omitted(part: Part): string {
  const type = part.inlineData?.mimeType ?? part.fileData?.mimeType ?? 'unknown type';
  const name = part.inlineData?.displayName ?? part.fileData?.displayName;
  return `[${name ? `${name}, ` : ''}${type}: this model does not accept it]`;
}

/** What a model has to support to receive this type of media. */
export function inputKind(mimeType: string): 'images' | 'audio' | 'video' | 'pdf' | undefined {
  if (mimeType.startsWith('image/')) return 'images';
  if (mimeType.startsWith('audio/')) return 'audio';
  if (mimeType.startsWith('video/')) return 'video';
  return mimeType === 'application/pdf' ? 'pdf' : undefined;
}

export function canSee(mimeType: string, supports: ModelFeatures): boolean {
  const kind = inputKind(mimeType);
  return kind !== undefined && supports[kind] === true;
}

/** For providers without response schemas, or without response schemas beside tools. */
export function withSchemaInstruction(request: ModelRequest): string {
  if (request.responseSchema === undefined) return request.system;
  const schema = JSON.stringify(request.responseSchema);
  return `${request.system}\n\nYour final answer is one JSON value, without a fence or other text, valid under this schema:\n${schema}`;
}

/** Ids of other providers may be too long, or contain characters that an API rejects. */
export function safeId(id: string): string {
  return /^[A-Za-z0-9_-]{1,64}$/.test(id) ? id : `x${Buffer.from(id).toString('hex').slice(-60)}`;
}
