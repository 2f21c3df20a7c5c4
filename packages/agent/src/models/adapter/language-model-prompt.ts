import type { Part } from '@lathe/core';
import { isObject, parseJson } from '../json.js';
import type { Effort, ModelFeatures, ModelRequest } from '../model.js';
import { closestLevel, effortOptions, effortRow, thinkingTokens } from '../wire/effort.js';
import type { PairedCall, Turn } from '../wire/paired-history.js';
import { callsOf, isCall, isFailure, pairHistory, resultAsText, resultParts } from '../wire/paired-history.js';
import { canSee, omitted, type WireName, withSchemaInstruction } from '../wire/wire-format.js';
import type { LanguageModel, SpecificationVersion } from './language-model.js';

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

/** How much to think, for an AI SDK model: an option of its own in v4, options of each provider before. */
export function languageModelEffort(
  effort: Effort | undefined,
  version: SpecificationVersion,
  { provider, modelId }: Pick<LanguageModel, 'provider' | 'modelId'>,
): object {
  if (effort === undefined) return {};
  if (version === 'v4') return { reasoning: effort };
  const name = provider.split('.')[0] ?? provider;
  const family = families.find(({ providers }) => providers.test(provider)) ?? other;
  const place = { provider: name, model: modelId };
  const level = closestLevel(effort, effortRow(family.wire, place).levels);
  if (level === undefined) return {};
  return {
    providerOptions: { [family.key ?? name]: family.options(level, effortOptions(family.wire, { effort }, place)) },
  };
}

interface Family {
  providers: RegExp;
  wire: WireName;
  /** The key of its options, if it is not the name of the provider. */
  key?: string;
  options: (level: Effort, wireOptions: object) => object;
}

const families: readonly Family[] = [
  {
    providers: /bedrock/,
    wire: 'messages',
    key: 'bedrock',
    options: (level) => ({
      reasoningConfig:
        level === 'none' ? { type: 'disabled' } : { type: 'enabled', budgetTokens: thinkingTokens[level] },
    }),
  },
  {
    providers: /anthropic/,
    wire: 'messages',
    key: 'anthropic',
    options: (level) => ({
      thinking: level === 'none' ? { type: 'disabled' } : { type: 'enabled', budgetTokens: thinkingTokens[level] },
    }),
  },
  {
    providers: /google|vertex/,
    wire: 'gemini',
    key: 'google',
    options: (_, wireOptions) => ({ thinkingConfig: { includeThoughts: true, ...lowerCase(wireOptions) } }),
  },
];

const other: Family = { providers: /$/, wire: 'chat', options: (level) => ({ reasoningEffort: level }) };

/** The AI SDK writes levels in lower case. */
function lowerCase(options: object): object {
  return Object.fromEntries(
    Object.entries(options).map(([key, value]) => [key, typeof value === 'string' ? value.toLowerCase() : value]),
  );
}
