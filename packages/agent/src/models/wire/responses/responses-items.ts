import type { Part } from '@lathe/core';
import { asString, isObject, parseJson } from '../../json.js';
import type { ModelRequest } from '../../model.js';
import { effortOptions, effortRow } from '../effort.js';
import {
  callsOf,
  isCall,
  type PairedCall,
  pairHistory,
  resultAsText,
  resultParts,
  type Turn,
} from '../paired-history.js';
import { canSee, type Endpoint, omitted, safeId } from '../wire-format.js';

type Item = { type: string; [key: string]: unknown };

export function responsesBody(request: ModelRequest, endpoint: Endpoint): object {
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
