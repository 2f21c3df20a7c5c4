import { asCount, asList, asObject, asString, isObject, type JsonObject } from '../../json.js';
import type { FinishReason } from '../../model.js';
import type { Answer } from '../answer.js';
import type { ArgumentValue } from '../argument-values.js';
import { reportedError } from '../reported-error.js';
import type { WireFormat } from '../wire-format.js';
import { geminiBody } from './gemini-messages.js';

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
