import type { Part } from '@lathe/core';
import type { JsonObject } from '../../json.js';
import { asCount, asList, asObject, asString, isObject, parseJson } from '../../json.js';
import type { FinishReason, ModelRequest } from '../../model.js';
import type { Answer } from '../answer.js';
import { effortOptions, effortRow } from '../effort.js';
import type { PairedCall, Turn } from '../paired-history.js';
import { callsOf, isCall, pairHistory, resultAsText, resultParts } from '../paired-history.js';
import { reportedError } from '../reported-error.js';
import { canSee, type Endpoint, omitted, safeId, type WireFormat } from '../wire-format.js';

/**
 * The Responses API of OpenAI, used without state on the server. An answer is a list of items, which may arrive side by
 * side. A call is complete when its item is done; one that is not done never runs.
 */
export const responses: WireFormat = {
  name: 'responses',
  path: () => '/responses',
  headers: ({ apiKey }) => (apiKey ? { authorization: `Bearer ${apiKey}` } : {}),
  body: responsesBody,
  read(chunk, answer, endpoint) {
    const place = asCount(chunk['output_index']) ?? 0;
    const delta = asString(chunk['delta']);
    switch (chunk['type']) {
      case 'response.output_text.delta':
        return answer.at(place).text(delta);
      case 'response.refusal.delta':
        answer.at(place).text(delta);
        return answer.end('filter');
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta':
        return answer.at(place).reasoning(delta);
      case 'response.reasoning_summary_part.added':
        if ((asCount(chunk['summary_index']) ?? 0) > 0) answer.at(place).reasoning('\n\n');
        return undefined;
      case 'response.output_item.added':
        return beginItem(asObject(chunk['item']), place, answer);
      case 'response.output_item.done':
        return endItem(asObject(chunk['item']), place, answer);
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
      case 'response.cancelled':
        return endResponse(asObject(chunk['response']), answer, endpoint);
      default:
        // Pieces that their item repeats as a whole, the progress of server-side tools, and events added later.
        if (chunk['error'] || chunk['type'] === 'error') throw reportedError(chunk['error'] ?? chunk, endpoint);
        // The answer of a server that does not stream.
        if (chunk['object'] === 'response') endResponse(chunk, answer, endpoint);
        return undefined;
    }
  },
};

function beginItem(item: JsonObject, place: number, answer: Answer): void {
  if (item['type'] !== 'function_call') return;
  const { call_id, name } = item;
  answer.at(place).call({ index: place, id: asString(call_id), hasUniqueId: true, name: asString(name), isOpen: true });
}

function endItem(item: JsonObject, place: number, answer: Answer): void {
  answer.at(place);
  switch (item['type']) {
    case 'function_call':
      return endCall(item, place, answer);
    case 'reasoning':
      if (!answer.hasContentAt(place)) answer.reasoning(textOf(item['summary']) || textOf(item['content']));
      return answer.reasoning('', signatureOf(item));
    case 'message':
      if (!answer.hasContentAt(place)) answer.text(textOf(item['content']));
      return answer.text('', asString(item['phase']) && JSON.stringify({ phase: item['phase'] }));
    default:
      // Tools that the provider runs itself are content, not calls.
      return undefined;
  }
}

function endCall({ call_id, name, arguments: args, status }: JsonObject, place: number, answer: Answer): void {
  answer.call({
    index: place,
    id: asString(call_id),
    hasUniqueId: true,
    name: asString(name),
    allArgs: typeof args === 'object' && args !== null ? JSON.stringify(args) : asString(args),
    isOpen: status === 'incomplete' || status === 'in_progress',
  });
}

/** What the provider wants back before the next item of this answer. */
function signatureOf({ id, encrypted_content }: JsonObject): string {
  return typeof encrypted_content === 'string' ? JSON.stringify({ id, encrypted_content }) : '';
}

function textOf(list: unknown): string {
  return asList(list)
    .map((each) => asString(asObject(each)['text']) || asString(asObject(each)['refusal']))
    .join('\n\n');
}

function endResponse(response: JsonObject, answer: Answer, endpoint: Endpoint): void {
  readUsage(response['usage'], answer);
  const { status, error, incomplete_details } = response;
  if (error || status === 'failed' || status === 'cancelled') throw reportedError(error ?? {}, endpoint);
  // After a stream this list may be shorter, so its positions are not those of the items that arrived before.
  if (answer.isEmpty)
    for (const [place, item] of asList(response['output']).entries()) endItem(asObject(item), place, answer);
  const reason = asString(asObject(incomplete_details)['reason']);
  answer.end(status === 'incomplete' || reason !== '' ? (incompleteReasons[reason] ?? 'other') : 'stop');
}

const incompleteReasons: Record<string, FinishReason> = { max_output_tokens: 'length', content_filter: 'filter' };

function readUsage(value: unknown, answer: Answer): void {
  if (!isObject(value)) return;
  const { cached_tokens, cache_write_tokens } = asObject(value['input_tokens_details']);
  answer.usage({
    inputTokens: asCount(value['input_tokens']),
    outputTokens: asCount(value['output_tokens']),
    cachedInputTokens: asCount(cached_tokens),
    cacheWriteTokens: asCount(cache_write_tokens),
    reasoningTokens: asCount(asObject(value['output_tokens_details'])['reasoning_tokens']),
  });
}

type Item = { type: string; [key: string]: unknown };

function responsesBody(request: ModelRequest, endpoint: Endpoint): object {
  const { system, tools, responseSchema, maxOutputTokens = endpoint.maxOutputTokens } = request;
  return {
    model: endpoint.model,
    ...(system === '' ? {} : { instructions: system }),
    input: pairHistory(request.history).flatMap((turn) => itemsOf(turn, endpoint)),
    tools: tools.length > 0 && endpoint.supports.tools ? tools.map(toolOf) : undefined,
    // Nothing is kept on the server: reasoning comes encrypted and goes back with the history.
    store: false,
    stream: true,
    max_output_tokens: maxOutputTokens,
    text: responseSchema && { format: { type: 'json_schema', name: 'answer', schema: responseSchema, strict: false } },
    ...effortOptions('responses', request, endpoint),
  };
}

/** Without `strict: false` the API makes every parameter required. */
function toolOf({ name, description, parametersJsonSchema }: ModelRequest['tools'][number]): object {
  const parameters = parametersJsonSchema ?? { type: 'object', properties: {} };
  return { type: 'function', name, description, parameters, strict: false };
}

function itemsOf(turn: Turn, endpoint: Endpoint): Item[] {
  if (turn.role === 'user')
    return [{ type: 'message', role: 'user', content: turn.parts.map((part) => contentOf(part, endpoint)) }];
  return [...modelItems(turn, endpoint), ...callsOf(turn).map((call) => resultItem(call, endpoint))];
}

function modelItems({ items, provider }: Extract<Turn, { role: 'model' }>, endpoint: Endpoint): Item[] {
  const isOwn = provider === endpoint.provider;
  // Models that do not think reject the thoughts of those that do.
  const reasons = effortRow('responses', endpoint).way !== 'omitted';
  const written = items.flatMap((item): Item[] => {
    if (isCall(item)) {
      const { id, name, args } = item;
      return [{ type: 'function_call', call_id: safeId(id), name, arguments: JSON.stringify(args) }];
    }
    if (item.thought) return isOwn && reasons ? reasoningItem(item) : [];
    return item.text ? [messageItem(item, isOwn)] : [];
  });
  // The API rejects reasoning without the item that it led to.
  return written.slice(0, written.findLastIndex(({ type }) => type !== 'reasoning') + 1);
}

function reasoningItem({ text, thoughtSignature }: Part): Item[] {
  const signature = parseJson(thoughtSignature ?? '');
  if (!isObject(signature) || asString(signature['encrypted_content']) === '') return [];
  const { id, encrypted_content } = signature;
  return [{ type: 'reasoning', id, summary: text ? [{ type: 'summary_text', text }] : [], encrypted_content }];
}

function messageItem({ text, thoughtSignature }: Part, isOwn: boolean): Item {
  const signature = isOwn ? parseJson(thoughtSignature ?? '') : undefined;
  const phase = isObject(signature) ? signature['phase'] : undefined;
  const content = [{ type: 'output_text', text, annotations: [] }];
  return { type: 'message', role: 'assistant', content, ...(phase === undefined ? {} : { phase }) };
}

/** Plain text where there is nothing else: not every server takes lists here. */
function resultItem({ id, response }: PairedCall, endpoint: Endpoint): Item {
  const parts = resultParts(response);
  const output = parts.every(({ text }) => text !== undefined)
    ? resultAsText(response)
    : parts.map((part) => contentOf(part, endpoint));
  return { type: 'function_call_output', call_id: safeId(id), output };
}

function contentOf(part: Part, { supports }: Endpoint): object {
  if (part.text !== undefined) return { type: 'input_text', text: part.text };
  const { mimeType = '', data, displayName } = part.inlineData ?? {};
  const isKnown = mimeType.startsWith('image/') || mimeType === 'application/pdf';
  if (data === undefined || !isKnown || !canSee(mimeType, supports)) return { type: 'input_text', text: omitted(part) };
  const url = `data:${mimeType};base64,${data}`;
  if (mimeType === 'application/pdf')
    return { type: 'input_file', filename: displayName ?? 'document.pdf', file_data: url };
  return { type: 'input_image', image_url: url, detail: 'auto' };
}
