import { asCount, asList, asObject, asString, isObject, type JsonObject } from '../../json.js';
import type { FinishReason } from '../../model.js';
import type { Answer } from '../answer.js';
import { reportedError } from '../reported-error.js';
import type { WireFormat } from '../wire-format.js';
import { openaiBody } from './openai-messages.js';

/**
 * Chat Completions, defined by OpenAI and also served by DashScope, DeepSeek, OpenRouter, vLLM, Ollama, LM Studio and
 * llama.cpp.
 */
export const openai: WireFormat = {
  name: 'chat',
  path: () => '/chat/completions',
  headers: ({ apiKey, provider }) => ({
    ...(apiKey ? { authorization: `Bearer ${apiKey}` } : {}),
    // DashScope looks at marks for its cache only when asked to.
    ...(provider === 'dashscope' ? { 'x-dashscope-cachecontrol': 'enable' } : {}),
  }),
  body: openaiBody,
  read(chunk, answer, endpoint) {
    const [first] = asList(chunk['choices']);
    const choice = asObject(first);
    const error = chunk['error'] ?? choice['error'];
    if (error) throw reportedError(error, endpoint);
    // Moonshot and Groq put it in places of their own.
    readUsage(chunk['usage'] ?? choice['usage'] ?? asObject(chunk['x_groq'])['usage'], answer);
    // A server that does not stream sends `message` instead of `delta`.
    readDelta(asObject(choice['delta'] ?? choice['message']), answer);
    const reason = asString(choice['finish_reason']);
    if (reason === 'error') throw reportedError({ message: 'the answer ended with an error' }, endpoint);
    if (reason !== '') answer.end(finishReasons[reason] ?? 'other');
  },
};

const finishReasons: Record<string, FinishReason> = {
  stop: 'stop',
  eos: 'stop',
  end_turn: 'stop',
  tool_calls: 'calls',
  function_call: 'calls',
  length: 'length',
  max_tokens: 'length',
  content_filter: 'filter',
};

function readDelta(delta: JsonObject, answer: Answer): void {
  const details = asList(delta['reasoning_details']);
  answer.reasoning(asString(delta['reasoning_content']) || asString(delta['reasoning']) || textOfDetails(details));
  for (const detail of details) signReasoning(asObject(detail), answer);
  readContent(delta['content'], answer);
  if (asString(delta['refusal']) !== '') {
    answer.text(asString(delta['refusal']));
    answer.end('filter');
  }
  for (const call of asList(delta['tool_calls'])) readCall(asObject(call), answer);
  if (isObject(delta['function_call'])) readCall({ index: 0, function: delta['function_call'] }, answer);
}

function readContent(content: unknown, answer: Answer): void {
  if (typeof content === 'string') return answer.text(content);
  for (const item of asList(content)) {
    const { type, text, thinking } = asObject(item);
    if (type === 'text') answer.text(asString(text));
    // Mistral's reasoning is a list inside the list.
    if (type === 'thinking') for (const inner of asList(thinking)) answer.reasoning(asString(asObject(inner)['text']));
  }
}

function textOfDetails(details: unknown[]): string {
  return details.map((detail) => asString(asObject(detail)['text']) || asString(asObject(detail)['summary'])).join('');
}

/** OpenRouter expects signed or encrypted reasoning back unchanged. The part already holds its text. */
function signReasoning(detail: JsonObject, answer: Answer): void {
  const isSigned = detail['signature'] || detail['data'];
  if (isSigned) answer.reasoning('', JSON.stringify({ ...detail, text: undefined }));
}

function readCall(call: JsonObject, answer: Answer): void {
  const { name, arguments: args } = asObject(call['function']);
  answer.call({
    index: asCount(call['index']),
    id: asString(call['id']),
    name: asString(name),
    args: typeof args === 'string' || (typeof args === 'object' && args !== null) ? args : undefined,
    // Gemini puts its signature here in this format.
    thoughtSignature: asString(asObject(asObject(call['extra_content'])['google'])['thought_signature']),
  });
}

function readUsage(value: unknown, answer: Answer): void {
  if (!isObject(value)) return;
  const prompt = asCount(value['prompt_tokens']);
  const written = asCount(value['completion_tokens']);
  const reasoning = asCount(asObject(value['completion_tokens_details'])['reasoning_tokens']);
  const details = asObject(value['prompt_tokens_details']);
  const cached =
    asCount(details['cached_tokens']) ??
    asCount(value['prompt_cache_hit_tokens']) ??
    asCount(value['cached_tokens']) ??
    asCount(value['cache_read_input_tokens']);
  const uncounted = (asCount(value['total_tokens']) ?? 0) - (prompt ?? 0) - (written ?? 0);
  // xAI, and Gemini in this format, count reasoning only in the total.
  const isReasoning = uncounted > 0 && (reasoning === undefined ? !cached : reasoning === uncounted);
  answer.usage({
    inputTokens: prompt,
    outputTokens: isReasoning && written !== undefined ? written + uncounted : written,
    cachedInputTokens: cached,
    cacheWriteTokens: cacheWriteOf(value),
    reasoningTokens: isReasoning ? uncounted : reasoning,
  });
}

function cacheWriteOf(usage: JsonObject): number | undefined {
  const { cache_write_tokens, cache_creation_input_tokens } = asObject(usage['prompt_tokens_details']);
  return asCount(cache_write_tokens ?? cache_creation_input_tokens ?? usage['cache_creation_input_tokens']);
}
