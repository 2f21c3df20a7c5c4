import type { Part } from '@lathe/core';
import type { ModelRequest } from '../../model.js';
import { effortOptions, effortRow } from '../effort.js';
import {
  callsOf,
  isCall,
  isFailure,
  mediaBelow,
  type PairedCall,
  pairHistory,
  resultAsText,
  type Turn,
} from '../paired-history.js';
import { canSee, type Endpoint, omitted, withSchemaInstruction } from '../wire-format.js';

export function geminiBody(request: ModelRequest, endpoint: Endpoint): object {
  const { tools, responseSchema, maxOutputTokens = endpoint.maxOutputTokens } = request;
  // The API rejects a response schema beside tools.
  const hasSchema = responseSchema !== undefined && tools.length === 0;
  const system = hasSchema ? request.system : withSchemaInstruction(request);
  return {
    ...(system === '' ? {} : { systemInstruction: { parts: [{ text: system }] } }),
    contents: pairHistory(request.history).flatMap((turn) => contentsOf(turn, endpoint)),
    ...(tools.length > 0 ? { tools: [{ functionDeclarations: tools }] } : {}),
    generationConfig: {
      ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
      ...(hasSchema ? { responseMimeType: 'application/json', responseJsonSchema: responseSchema } : {}),
      // Models that do not think reject this option.
      ...(effortRow('gemini', endpoint).way === 'omitted'
        ? {}
        : { thinkingConfig: { includeThoughts: true, ...effortOptions('gemini', request, endpoint) } }),
    },
  };
}

function contentsOf(turn: Turn, endpoint: Endpoint): object[] {
  if (turn.role === 'user') return [{ role: 'user', parts: turn.parts.map((part) => partOf(part, endpoint)) }];
  const model = { role: 'model', parts: modelParts(turn, endpoint) };
  const results = { role: 'user', parts: resultParts(callsOf(turn), endpoint) };
  return [model, results].filter(({ parts }) => parts.length > 0);
}

function modelParts({ items, provider }: Extract<Turn, { role: 'model' }>, endpoint: Endpoint): object[] {
  const isOwn = provider === endpoint.provider;
  const firstCall = items.find(isCall);
  return items.flatMap((item): object[] => {
    if (isCall(item)) {
      const signature = (isOwn && item.thoughtSignature) || (item === firstCall && !isOwn ? unsigned : undefined);
      const functionCall = { id: item.id, name: item.name, args: item.args };
      return [{ functionCall, ...(signature ? { thoughtSignature: signature } : {}) }];
    }
    // Summaries of thoughts are for people; only signatures go back.
    if (item.thought || !item.text) return [];
    return [
      { text: item.text, ...(isOwn && item.thoughtSignature ? { thoughtSignature: item.thoughtSignature } : {}) },
    ];
  });
}

/** Documented by Google for calls of another model: without it, Gemini 3 rejects them as unsigned. */
const unsigned = 'skip_thought_signature_validator';

function resultParts(calls: PairedCall[], endpoint: Endpoint): object[] {
  const results = calls.map(({ id, name, response }) => ({
    functionResponse: {
      id,
      name,
      response: isFailure(response) ? (response.response ?? {}) : { output: resultAsText(response) },
    },
  }));
  const media = mediaBelow(calls).map((part) => partOf(part, endpoint));
  return [...results, ...media];
}

function partOf(part: Part, { supports }: Endpoint): object {
  if (part.text !== undefined) return { text: part.text };
  const { mimeType = '', data } = part.inlineData ?? {};
  const isSeen = canSee(mimeType, supports) || /^(?:audio|video)\//.test(mimeType);
  return data !== undefined && isSeen ? { inlineData: { mimeType, data } } : { text: omitted(part) };
}
