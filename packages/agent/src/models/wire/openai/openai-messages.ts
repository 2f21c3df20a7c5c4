import type { Part } from '@lathe/core';
import { isObject, parseJson } from '../../json.js';
import type { ModelRequest } from '../../model.js';
import { effortOptions } from '../effort.js';
import type { PairedCall, Turn } from '../paired-history.js';
import { callsOf, isCall, mediaBelow, pairHistory, resultAsText } from '../paired-history.js';
import { canSee, type Endpoint, omitted } from '../wire-format.js';

export function openaiBody(request: ModelRequest, endpoint: Endpoint): object {
  const { tools, responseSchema, maxOutputTokens = endpoint.maxOutputTokens } = request;
  const isOpenai = endpoint.baseUrl.startsWith('https://api.openai.com/');
  return {
    model: endpoint.model,
    messages: messagesOf(request, endpoint),
    tools: tools.length > 0 && endpoint.supports.tools ? tools.map(toolOf) : undefined,
    stream: true,
    stream_options: { include_usage: true },
    // OpenAI's reasoning models reject the old name, most other servers do not know the new one.
    [isOpenai ? 'max_completion_tokens' : 'max_tokens']: maxOutputTokens,
    response_format: responseSchema && { type: 'json_schema', json_schema: { name: 'answer', schema: responseSchema } },
    ...effortOptions('chat', request, endpoint),
  };
}

function toolOf({ name, description, parametersJsonSchema }: ModelRequest['tools'][number]): object {
  const parameters = parametersJsonSchema ?? { type: 'object', properties: {} };
  return { type: 'function', function: { name, description, parameters } };
}

function messagesOf(request: ModelRequest, endpoint: Endpoint): ChatMessage[] {
  const turns = pairHistory(request.history);
  const lastUser = turns.findLastIndex(({ role }) => role === 'user');
  const hasTextTools = request.tools.length > 0 && !endpoint.supports.tools;
  const system = hasTextTools ? withTextTools(request) : request.system;
  const messages = turns.flatMap((turn, index) => {
    if (turn.role === 'user') return [{ role: 'user', content: contentOf(turn.parts, endpoint) }];
    if (hasTextTools) return textMessages(turn, endpoint);
    return [assistantMessage(turn, endpoint, index > lastUser), ...resultMessages(callsOf(turn), endpoint)];
  });
  const all: ChatMessage[] = system === '' ? messages : [{ role: 'system', content: system }, ...messages];
  return needsCacheMarks(endpoint) ? withCacheMarks(all) : all;
}

function textMessages(turn: ModelTurn, endpoint: Endpoint): ChatMessage[] {
  const calls = callsOf(turn);
  const parts = [...calls.map((call) => ({ text: resultText(call) })), ...mediaBelow(calls)];
  const answers = parts.length > 0 ? [{ role: 'user', content: contentOf(parts, endpoint) }] : [];
  return [{ role: 'assistant', content: assistantText(turn) }, ...answers];
}

/** Plain text where there is nothing else: many local servers do not support lists. */
function contentOf(parts: Part[], endpoint: Endpoint): unknown {
  const items = parts.map((part) => contentItem(part, endpoint));
  if (items.every((item) => item.type === 'text')) return items.map(({ text }) => text).join('\n');
  return items;
}

type ContentItem =
  | { type: 'text'; text: string }
  | { type: 'image_url' | 'input_audio' | 'video_url' | 'file'; [key: string]: unknown };

function contentItem(part: Part, { supports }: Endpoint): ContentItem {
  if (part.text !== undefined) return { type: 'text', text: part.text };
  const { mimeType = '', data, displayName } = part.inlineData ?? {};
  if (data === undefined || !canSee(mimeType, supports)) return { type: 'text', text: omitted(part) };
  const url = `data:${mimeType};base64,${data}`;
  if (mimeType.startsWith('image/')) return { type: 'image_url', image_url: { url } };
  if (mimeType.startsWith('audio/'))
    return { type: 'input_audio', input_audio: { data, format: audioFormat(mimeType) } };
  if (mimeType.startsWith('video/')) return { type: 'video_url', video_url: { url } };
  return { type: 'file', file: { filename: displayName ?? 'document.pdf', file_data: url } };
}

/** `wav` and `mp3` are what most servers know; others are named as they are. */
function audioFormat(mimeType: string): string {
  const name = mimeType.slice('audio/'.length).replace(/^x-/, '');
  return name === 'mpeg' ? 'mp3' : name === 'wave' ? 'wav' : name;
}

type ModelTurn = Extract<Turn, { role: 'model' }>;

function assistantMessage({ items, provider }: ModelTurn, endpoint: Endpoint, isCurrent: boolean): ChatMessage {
  const text = items.map((item) => (isCall(item) || item.thought ? '' : (item.text ?? ''))).join('');
  const calls = items.filter(isCall);
  const isOwn = provider === endpoint.provider;
  return {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    ...(isOwn && (isCurrent || calls.length > 0) ? reasoningOf(items, endpoint) : {}),
    ...(calls.length > 0 ? { tool_calls: calls.map((call) => callOf(call, isOwn)) } : {}),
  };
}

/** Some models continue their reasoning after a result only if they get back the reasoning before it. */
function reasoningOf(items: (Part | PairedCall)[], { provider, model }: Endpoint): object {
  const thoughts = items.filter((item): item is Part => !isCall(item) && item.thought === true);
  if (thoughts.length === 0) return {};
  if (provider === 'openrouter') return { reasoning_details: thoughts.flatMap(detailOf) };
  const isWanted = provider === 'deepseek' || /kimi|glm-|mimo/i.test(model);
  return isWanted ? { reasoning_content: thoughts.map(({ text }) => text ?? '').join('') } : {};
}

function detailOf({ text, thoughtSignature }: Part): object[] {
  const detail = parseJson(thoughtSignature ?? '');
  if (!isObject(detail)) return text ? [{ type: 'reasoning.text', text }] : [];
  return [detail['type'] === 'reasoning.text' ? { ...detail, text } : detail];
}

function callOf({ id, name, args, thoughtSignature }: PairedCall, isOwn: boolean): object {
  return {
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
    ...(isOwn && thoughtSignature ? { extra_content: { google: { thought_signature: thoughtSignature } } } : {}),
  };
}

/** A result is text in this format; images follow in a user message. */
function resultMessages(calls: PairedCall[], endpoint: Endpoint): ChatMessage[] {
  const messages: ChatMessage[] = calls.map(({ id, response }) => ({
    role: 'tool',
    tool_call_id: id,
    content: resultAsText(response),
  }));
  const media = mediaBelow(calls);
  if (media.length > 0) messages.push({ role: 'user', content: contentOf(media, endpoint) });
  return messages;
}

/** A message of Chat Completions. */
export type ChatMessage = { role: string; content: unknown; [key: string]: unknown };

/** Models that cache a conversation only up to marks in it. The others do it by themselves, or not at all. */
function needsCacheMarks({ provider, model }: Pick<Endpoint, 'provider' | 'model'>): boolean {
  return provider === 'dashscope' || (provider === 'openrouter' && /claude|qwen/i.test(model));
}

/**
 * Marks the instructions and the newest two messages of a person or a tool: the older one was the newest last time, so
 * its beginning is cached already.
 */
export function withCacheMarks(messages: readonly ChatMessage[]): ChatMessage[] {
  const newest = messages.filter(({ role }) => role === 'user' || role === 'tool').slice(-2);
  return messages.map((message) =>
    message.role === 'system' || newest.includes(message) ? { ...message, content: marked(message.content) } : message,
  );
}

const mark = { cache_control: { type: 'ephemeral' } };

function marked(content: unknown): unknown {
  if (typeof content === 'string') return content === '' ? content : [{ type: 'text', text: content, ...mark }];
  if (!Array.isArray(content)) return content;
  return content.map((item: object, index) => (index === content.length - 1 ? { ...item, ...mark } : item));
}

/**
 * Tools for a model whose server does not support them: declared in the instructions, called and answered in the
 * notation that Hermes and Qwen models were trained on. `readTextCalls` reads the calls.
 */
function withTextTools({ system, tools }: ModelRequest): string {
  const declarations = tools.map(({ name, description, parametersJsonSchema: parameters }) =>
    JSON.stringify({ name, description, parameters }),
  );
  return [
    system,
    '# Tools',
    ...declarations,
    'To use a tool, answer with nothing but this, once per call, and wait for the result:',
    '<tool_call>{"name": "…", "arguments": {…}}</tool_call>',
  ].join('\n');
}

function assistantText({ items }: Extract<Turn, { role: 'model' }>): string {
  return items
    .map((item) => {
      if (!isCall(item)) return item.thought ? '' : (item.text ?? '');
      return `<tool_call>${JSON.stringify({ name: item.name, arguments: item.args })}</tool_call>`;
    })
    .join('');
}

/** A result cannot fake its own end, or a call. */
function resultText({ name, response }: PairedCall): string {
  const text = resultAsText(response).replaceAll(/<(\/?tool_(?:response|call))/g, '<\u200b$1');
  return `<tool_response name="${name}">\n${text}\n</tool_response>`;
}
