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
 * The skills that were loaded in the past and not again since: each as its call and its result, the latest ones that fit. They stay word for word, because the model still works by them.
 */
export function loadedSkills(past: readonly Message[], recent: readonly Message[], tokens: number) {
  const parts = [...past, ...recent].flatMap((message) => message.parts);
  const results = new Map(
    parts.flatMap(({ functionResponse: result }) => (result && isSkill(result) ? [[result.id, result] as const] : [])),
  );
  const isRecent = new Set(recent.flatMap((message) => message.parts));
  const seen = new Set<string>();
  const calls: Part[] = [];
  let left = tokens;
  for (const part of parts.toReversed()) {
    const { functionCall } = part;
    const result = functionCall && results.get(functionCall.id);
    const name = String(functionCall?.args?.['name']);
    if (!result || seen.has(name)) continue;
    seen.add(name);
    if (isRecent.has(part)) continue;
    left -= estimateTokens(responseText(result));
    if (left >= 0) calls.unshift({ functionCall });
  }
  const kept = calls.flatMap(({ functionCall }) => results.get(functionCall?.id) ?? []);
  return { calls, results: kept.map((functionResponse): Part => ({ functionResponse })) };
}
