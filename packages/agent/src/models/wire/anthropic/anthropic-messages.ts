import type { Part } from '@lathe/core';
import type { ModelRequest } from '../../model.js';
import { effortOptions } from '../effort.js';
import { callsOf, isCall, isFailure, type PairedCall, pairHistory, resultParts, type Turn } from '../paired-history.js';
import { canSee, type Endpoint, omitted, safeId, withSchemaInstruction } from '../wire-format.js';

type Block = { type: string; [key: string]: unknown };
type WireMessage = { role: 'user' | 'assistant'; content: Block[] };

/** Encrypted reasoning is stored as a signature with this prefix. */
export const redactedMark = 'redacted:';

/** The provider caches everything before this mark: declarations and instructions, then all messages but the newest. */
const cached = { cache_control: { type: 'ephemeral' } };

export function anthropicBody(request: ModelRequest, endpoint: Endpoint): object {
  const { tools, maxOutputTokens = endpoint.maxOutputTokens ?? 8_192 } = request;
  const system = withSchemaInstruction(request);
  return {
    model: endpoint.model,
    max_tokens: maxOutputTokens,
    ...(system === '' ? {} : { system: [{ type: 'text', text: system, ...cached }] }),
    messages: messagesOf(request, endpoint),
    tools: tools.length > 0 ? tools.map(toolOf) : undefined,
    stream: true,
    ...effortOptions('messages', request, endpoint),
  };
}

function toolOf({ name, description, parametersJsonSchema }: ModelRequest['tools'][number]): object {
  return { name, description, input_schema: parametersJsonSchema ?? { type: 'object', properties: {} } };
}

function messagesOf({ history }: ModelRequest, endpoint: Endpoint): WireMessage[] {
  const messages: WireMessage[] = [];
  for (const message of pairHistory(history).flatMap((turn) => messagesOfTurn(turn, endpoint))) {
    const last = messages.at(-1);
    if (last?.role === message.role) last.content.push(...message.content);
    else messages.push(message);
  }
  return withCacheMarks(messages);
}

function messagesOfTurn(turn: Turn, endpoint: Endpoint): WireMessage[] {
  const own: WireMessage =
    turn.role === 'user'
      ? { role: 'user', content: turn.parts.map((part) => blockOf(part, endpoint)) }
      : { role: 'assistant', content: assistantBlocks(turn, endpoint) };
  const results: WireMessage = { role: 'user', content: callsOf(turn).map((call) => resultBlock(call, endpoint)) };
  return [own, results].filter(({ content }) => content.length > 0);
}

/** Marks the newest two user messages: the older one was the newest last time, so its prefix is cached already. */
function withCacheMarks(messages: WireMessage[]): WireMessage[] {
  const newest = new Set(messages.filter(({ role }) => role === 'user').slice(-2));
  return messages.map((message) => {
    const last = newest.has(message) ? message.content.at(-1) : undefined;
    return last ? { ...message, content: [...message.content.slice(0, -1), { ...last, ...cached }] } : message;
  });
}

function assistantBlocks(turn: Extract<Turn, { role: 'model' }>, endpoint: Endpoint): Block[] {
  return turn.items.flatMap((item): Block[] => {
    if (isCall(item)) return [{ type: 'tool_use', id: safeId(item.id), name: item.name, input: item.args }];
    if (item.thought) return turn.provider === endpoint.provider ? thinkingBlock(item) : [];
    // The API rejects text that is only white space.
    return item.text?.trim() ? [{ type: 'text', text: item.text }] : [];
  });
}

function thinkingBlock({ text = '', thoughtSignature = '' }: Part): Block[] {
  if (thoughtSignature === '') return [];
  if (thoughtSignature.startsWith(redactedMark))
    return [{ type: 'redacted_thinking', data: thoughtSignature.slice(redactedMark.length) }];
  return [{ type: 'thinking', thinking: text, signature: thoughtSignature }];
}

function resultBlock({ id, response }: PairedCall, endpoint: Endpoint): Block {
  const blocks = resultParts(response)
    .map((part) => blockOf(part, endpoint))
    .filter(({ type, text }) => type !== 'text' || String(text).trim() !== '');
  const [first] = blocks;
  return {
    type: 'tool_result',
    tool_use_id: safeId(id),
    content: blocks.length === 1 && first?.type === 'text' ? first['text'] : blocks,
    ...(isFailure(response) && { is_error: true }),
  };
}

function blockOf(part: Part, { supports }: Endpoint): Block {
  if (part.text !== undefined) return { type: 'text', text: part.text };
  const { mimeType = '', data } = part.inlineData ?? {};
  if (data === undefined || !canSee(mimeType, supports)) return { type: 'text', text: omitted(part) };
  const source = { type: 'base64', media_type: mimeType, data };
  return { type: mimeType.startsWith('image/') ? 'image' : 'document', source };
}
