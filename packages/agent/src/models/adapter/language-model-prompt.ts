import type { Part } from '@lathe/core';
import { isObject, parseJson } from '../json.js';
import type { ModelFeatures, ModelRequest } from '../model.js';
import {
  callsOf,
  isCall,
  isFailure,
  type PairedCall,
  pairHistory,
  resultAsText,
  resultParts,
  type Turn,
} from '../wire/paired-history.js';
import { canSee, omitted, withSchemaInstruction } from '../wire/wire-format.js';
import type { SpecificationVersion } from './language-model.js';

/** What the shape of a prompt depends on. */
export interface PromptTarget {
  version: SpecificationVersion;
  provider: string;
  modelId: string;
  supports: ModelFeatures;
}

type PromptMessage = { role: string; content: unknown; providerOptions?: object };

/** A request as the prompt of an AI SDK model. */
export function promptOf(request: ModelRequest, target: PromptTarget): object[] {
  const system = request.tools.length > 0 ? withSchemaInstruction(request) : request.system;
  const messages = pairHistory(request.history).flatMap((turn) => messagesOf(turn, target));
  const all: PromptMessage[] = system === '' ? messages : [{ role: 'system', content: system }, ...messages];
  return /claude/i.test(target.modelId) ? withCacheMarks(all) : all;
}

export function toolOf({ name, description, parametersJsonSchema }: ModelRequest['tools'][number]): object {
  return {
    type: 'function',
    name,
    description,
    inputSchema: parametersJsonSchema ?? { type: 'object', properties: {} },
  };
}

function messagesOf(turn: Turn, target: PromptTarget): PromptMessage[] {
  if (turn.role === 'user') return [{ role: 'user', content: turn.parts.map((part) => contentOf(part, target)) }];
  const own: PromptMessage = { role: 'assistant', content: assistantParts(turn, target) };
  const results: PromptMessage = { role: 'tool', content: callsOf(turn).map((call) => resultOf(call, target)) };
  return [own, results].filter(({ content }) => Array.isArray(content) && content.length > 0);
}

function assistantParts({ items, provider }: Extract<Turn, { role: 'model' }>, target: PromptTarget): object[] {
  const isOwn = provider === target.provider;
  return items.flatMap((item): object[] => {
    const options = isOwn ? optionsOf(item.thoughtSignature) : {};
    if (isCall(item))
      return [{ type: 'tool-call', toolCallId: item.id, toolName: item.name, input: item.args, ...options }];
    if (item.thought) return isOwn ? [{ type: 'reasoning', text: item.text ?? '', ...options }] : [];
    return item.text ? [{ type: 'text', text: item.text, ...options }] : [];
  });
}

/** A provider gets back what it said about its reasoning, as it was. */
function optionsOf(signature: string | undefined): { providerOptions?: object } {
  const metadata = parseJson(signature ?? '');
  return isObject(metadata) ? { providerOptions: metadata } : {};
}

function resultOf({ id, name, response }: PairedCall, target: PromptTarget): object {
  return { type: 'tool-result', toolCallId: id, toolName: name, output: outputOf(response, target) };
}

function outputOf(response: PairedCall['response'], target: PromptTarget): object {
  const parts = resultParts(response);
  if (parts.every(({ text }) => text !== undefined))
    return { type: isFailure(response) ? 'error-text' : 'text', value: resultAsText(response) };
  return { type: 'content', value: parts.map((part) => resultContent(part, target)) };
}

function resultContent(part: Part, { version, supports }: PromptTarget): object {
  if (part.text !== undefined) return { type: 'text', text: part.text };
  const { mimeType: mediaType = '', data } = part.inlineData ?? {};
  if (data === undefined || !canSee(mediaType, supports)) return { type: 'text', text: omitted(part) };
  switch (version) {
    case 'v2':
      return { type: 'media', data, mediaType };
    case 'v3':
      return { type: mediaType.startsWith('image/') ? 'image-data' : 'file-data', data, mediaType };
    case 'v4':
      return { type: 'file', data: { type: 'data', data }, mediaType };
  }
}

function contentOf(part: Part, { version, supports }: PromptTarget): object {
  if (part.text !== undefined) return { type: 'text', text: part.text };
  const { mimeType: mediaType = '', data, displayName: filename } = part.inlineData ?? {};
  if (data === undefined || !canSee(mediaType, supports)) return { type: 'text', text: omitted(part) };
  const content = version === 'v4' ? { type: 'data', data } : data;
  return { type: 'file', mediaType, data: content, ...(filename !== undefined && { filename }) };
}

/** Claude's providers cache what is before these marks: the instructions, and all messages but the newest. */
function withCacheMarks(messages: readonly PromptMessage[]): PromptMessage[] {
  const newest = messages.filter(({ role }) => role === 'user' || role === 'tool').slice(-2);
  return messages.map((message) =>
    message.role === 'system' || newest.includes(message) ? { ...message, providerOptions: cacheMarks } : message,
  );
}

const cacheMarks = {
  anthropic: { cacheControl: { type: 'ephemeral' } },
  bedrock: { cachePoint: { type: 'default' } },
};
