import { asCount, asObject, asString, isObject, type JsonObject } from '../../json.js';
import type { FinishReason } from '../../model.js';
import type { Answer } from '../answer.js';
import { reportedError } from '../reported-error.js';
import type { WireFormat } from '../wire-format.js';
import { anthropicBody, redactedMark } from './anthropic-messages.js';

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
