import type { FunctionResponse, Part } from '@lathe/core';
import { responseText } from '@lathe/core/host';
import { estimateTokens } from '../models/estimate-tokens.js';
import type { Message } from '../models/model.js';

/** The tool that loads skills, and the source that brings it. */
export const skillTool = 'skill';
export const skillSource = 'skills';

export const isSkill = ({ name, response }: FunctionResponse): boolean =>
  name === skillTool && response?.['error'] === undefined;

/**
 * The skills that were loaded in the past and not again since: each as its call and its result, the latest first as long
 * as they fit. They stay word for word, because the model still works by them.
 */
export function loadedSkills(past: readonly Message[], recent: readonly Message[], tokens: number) {
  const results = new Map(resultsIn([...past, ...recent]).map((result) => [result.id, result]));
  const callsIn = (messages: readonly Message[]) =>
    messages.flatMap(({ parts }) => parts.flatMap(({ functionCall }) => functionCall ?? []));
  const nameOf = ({ args }: { args?: Record<string, unknown> }) => String(args?.['name']);
  const seen = new Set(callsIn(recent).flatMap((call) => (results.has(call.id) ? [nameOf(call)] : [])));
  const kept: { call: Part; result: Part }[] = [];
  let left = tokens;
  for (const call of callsIn(past).toReversed()) {
    const result = results.get(call.id);
    if (!result || seen.has(nameOf(call))) continue;
    seen.add(nameOf(call));
    left -= estimateTokens(responseText(result));
    if (left < 0) break;
    kept.unshift({ call: { functionCall: call }, result: { functionResponse: result } });
  }
  return { calls: kept.map(({ call }) => call), results: kept.map(({ result }) => result) };
}

function resultsIn(messages: readonly Message[]): FunctionResponse[] {
  const all = messages.flatMap(({ parts }) => parts.flatMap(({ functionResponse }) => functionResponse ?? []));
  return all.filter(isSkill);
}
