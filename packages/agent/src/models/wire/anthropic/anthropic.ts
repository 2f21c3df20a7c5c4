import type { Part } from '@lathe/core';
import { asCount, asObject, asString, isObject, type JsonObject } from '../../json.js';
import type { FinishReason, ModelRequest } from '../../model.js';
import type { Answer } from '../answer.js';
import { effortOptions } from '../effort.js';
import type { PairedCall, Turn } from '../paired-history.js';
import { callsOf, isCall, isFailure, pairHistory, resultParts } from '../paired-history.js';
import { reportedError } from '../reported-error.js';
import { canSee, type Endpoint, omitted, safeId, type WireFormat, withSchemaInstruction } from '../wire-format.js';

/** The Messages API of Anthropic. */
export const anthropic: WireFormat = {
  name: 'messages',
  path: () => '/messages',
  headers: ({ apiKey }) => ({ 'anthropic-version': '2023-06-01', ...(apiKey ? { 'x-api-key': apiKey } : {}) }),
  body: anthropicBody,
  read(chunk, answer, endpoint) {
    if (chunk['error'] || chunk['type'] === 'error') throw reportedError(chunk['error'], endpoint);
    const index = asCount(chunk['index']);
    switch (chunk['type']) {
      case 'message_start':
        return readUsage(asObject(asObject(chunk['message'])['usage']), answer);
      case 'content_block_start':
        return readBlock(asObject(chunk['content_block']), index, answer);
      case 'content_block_delta':
        return readDelta(asObject(chunk['delta']), index, answer);
      case 'message_delta':
        return readEnd(chunk, answer);
      case 'message':
        return readWholeMessage(chunk, answer);
      default:
        // `ping`, the end of a block or of the message, and events added later.
        return undefined;
    }
  },
};

const finishReasons: Record<string, FinishReason> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  tool_use: 'calls',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  refusal: 'filter',
};

function readBlock(block: JsonObject, index: number | undefined, answer: Answer): void {
  switch (block['type']) {
    case 'text':
      return answer.text(asString(block['text']));
    case 'thinking':
      return answer.reasoning(asString(block['thinking']), asString(block['signature']));
    case 'redacted_thinking':
      return answer.reasoning('', `${redactedMark}${asString(block['data'])}`);
    case 'tool_use': {
      // Streamed input starts as an empty object and follows in pieces. A filled one is already whole.
      const input = isObject(block['input']) && Object.keys(block['input']).length > 0 ? block['input'] : undefined;
      return answer.call({ index, id: asString(block['id']), name: asString(block['name']), args: input });
    }
    default:
      // Tools that the provider runs itself, such as `server_tool_use` and `mcp_tool_use`, stream their input as well.
      return answer.ignoreCall(index);
  }
}

function readDelta(delta: JsonObject, index: number | undefined, answer: Answer): void {
  switch (delta['type']) {
    case 'text_delta':
      return answer.text(asString(delta['text']));
    case 'thinking_delta':
      return answer.reasoning(asString(delta['thinking']));
    case 'signature_delta':
      return answer.reasoning('', asString(delta['signature']));
    case 'input_json_delta':
      return answer.call({ index, args: asString(delta['partial_json']) });
    default:
      return undefined;
  }
}

function readEnd(chunk: JsonObject, answer: Answer): void {
  readUsage(asObject(chunk['usage']), answer);
  const reason = asString(asObject(chunk['delta'])['stop_reason']);
  if (reason !== '') answer.end(finishReasons[reason] ?? 'other');
}

/** The answer of a gateway that does not stream. */
function readWholeMessage(chunk: JsonObject, answer: Answer): void {
  const content = Array.isArray(chunk['content']) ? chunk['content'] : [];
  for (const [index, block] of content.entries()) readBlock(asObject(block), index, answer);
  readEnd({ usage: chunk['usage'], delta: { stop_reason: chunk['stop_reason'] } }, answer);
}

/** Cached tokens are counted apart from the input. The last chunk repeats only some of the counts. */
function readUsage(usage: JsonObject, answer: Answer): void {
  answer.usage({
    freshInputTokens: asCount(usage['input_tokens']),
    outputTokens: asCount(usage['output_tokens']),
    cachedInputTokens: asCount(usage['cache_read_input_tokens']),
    cacheWriteTokens: asCount(usage['cache_creation_input_tokens']),
  });
}

type Block = { type: string; [key: string]: unknown };
type WireMessage = { role: 'user' | 'assistant'; content: Block[] };

/** Encrypted reasoning is stored as a signature with this prefix. */
const redactedMark = 'redacted:';

/** The provider caches everything before this mark: declarations and instructions, then all messages but the newest. */
const cached = { cache_control: { type: 'ephemeral' } };

function anthropicBody(request: ModelRequest, endpoint: Endpoint): object {
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
