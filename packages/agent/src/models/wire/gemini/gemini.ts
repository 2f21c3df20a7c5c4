import type { Part } from '@lathe/core';
import { asCount, asList, asObject, asString, isObject, type JsonObject } from '../../json.js';
import type { FinishReason, ModelRequest } from '../../model.js';
import type { Answer } from '../answer.js';
import type { ArgumentValue } from '../argument-values.js';
import { effortOptions, effortRow } from '../effort.js';
import type { PairedCall, Turn } from '../paired-history.js';
import { callsOf, isCall, isFailure, mediaBelow, pairHistory, resultAsText } from '../paired-history.js';
import { reportedError } from '../reported-error.js';
import { canSee, type Endpoint, omitted, type WireFormat, withSchemaInstruction } from '../wire-format.js';

/** `streamGenerateContent` of Google's Gemini API. */
export const gemini: WireFormat = {
  name: 'gemini',
  path: ({ model }) => `/models/${encodeURIComponent(model)}:streamGenerateContent?alt=sse`,
  headers: ({ apiKey }) => (apiKey ? { 'x-goog-api-key': apiKey } : {}),
  body: geminiBody,
  read(chunk, answer, endpoint) {
    if (chunk['error']) throw reportedError(chunk['error'], endpoint);
    readUsage(chunk['usageMetadata'], answer);
    if (asObject(chunk['promptFeedback'])['blockReason']) answer.end('filter');
    const candidate = asObject(asList(chunk['candidates'])[0]);
    for (const part of asList(asObject(candidate['content'])['parts'])) readPart(asObject(part), answer);
    const reason = asString(candidate['finishReason']);
    if (reason === 'MALFORMED_FUNCTION_CALL' && answer.hasCalls)
      throw reportedError({ message: 'a call of the model is malformed' }, endpoint);
    if (reason !== '') answer.end(finishReasons[reason] ?? 'other');
  },
};

const finishReasons: Record<string, FinishReason> = {
  STOP: 'stop',
  MAX_TOKENS: 'length',
  SAFETY: 'filter',
  RECITATION: 'filter',
  LANGUAGE: 'filter',
  BLOCKLIST: 'filter',
  PROHIBITED_CONTENT: 'filter',
  SPII: 'filter',
  IMAGE_SAFETY: 'filter',
};

function readPart(part: JsonObject, answer: Answer): void {
  const signature = asString(part['thoughtSignature']);
  const call = part['functionCall'];
  if (isObject(call)) {
    readCall(call, signature, answer);
    return;
  }
  const text = asString(part['text']);
  if (part['thought'] === true) answer.reasoning(text, signature);
  else answer.text(text, signature);
}

/** A call arrives whole, without `args` when it has none, or its values follow one by one. */
function readCall(call: JsonObject, thoughtSignature: string, answer: Answer): void {
  const { args, partialArgs, willContinue } = call;
  const id = asString(call['id']);
  const name = asString(call['name']);
  const isOpen = willContinue === true;
  // The end of a call in pieces has no name.
  if (isOpen || partialArgs !== undefined || name === '') {
    answer.call({ id, name, values: asList(partialArgs).map(valueOf), thoughtSignature, isOpen });
    return;
  }
  const whole = typeof args === 'object' && args !== null ? args : JSON.stringify(args ?? {});
  answer.call({ id, name, args: whole, thoughtSignature, isWhole: true });
}

function valueOf(piece: unknown): ArgumentValue {
  const { jsonPath, stringValue, numberValue, boolValue } = asObject(piece);
  const value = [stringValue, numberValue, boolValue].find((each) => each !== undefined) ?? null;
  return { path: asString(jsonPath), value };
}

function readUsage(value: unknown, answer: Answer): void {
  if (!isObject(value)) return;
  const prompt = asCount(value['promptTokenCount']);
  const written = asCount(value['candidatesTokenCount']);
  const thoughts = asCount(value['thoughtsTokenCount']);
  answer.usage({
    inputTokens: prompt === undefined ? undefined : prompt + (asCount(value['toolUsePromptTokenCount']) ?? 0),
    outputTokens: written === undefined && thoughts === undefined ? undefined : (written ?? 0) + (thoughts ?? 0),
    cachedInputTokens: asCount(value['cachedContentTokenCount']),
    reasoningTokens: thoughts,
  });
}

function geminiBody(request: ModelRequest, endpoint: Endpoint): object {
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
