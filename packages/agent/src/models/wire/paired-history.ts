import type { FunctionResponse, Part } from '@lathe/core';
import { responseText } from '@lathe/core/host';
import type { Message } from '../model.js';
import { repairHistory } from '../repair-history.js';

/** A call with its result. */
export interface PairedCall {
  id: string;
  name: string;
  args: Record<string, unknown>;
  thoughtSignature?: string | undefined;
  response: FunctionResponse;
}

export type Turn =
  | { role: 'user'; parts: Part[] }
  /** `items` are text, reasoning and calls in the order in which the model wrote them. */
  | { role: 'model'; items: (Part | PairedCall)[]; provider: string | undefined };

/**
 * Joins each call of a repaired history with its result, drops empty parts and merges neighboring user messages. The
 * history itself does not change.
 */
export function pairHistory(history: readonly Message[]): Turn[] {
  const turns: Turn[] = [];
  const repaired = repairHistory(history);
  for (const [index, message] of repaired.entries()) {
    if (message.role === 'tool') continue;
    const turn = message.role === 'user' ? userTurn(message) : modelTurn(message, repaired[index + 1]);
    const last = turns.at(-1);
    if (turn?.role === 'user' && last?.role === 'user') last.parts.push(...turn.parts);
    else if (turn) turns.push(turn);
  }
  return turns;
}

export function isCall(item: Part | PairedCall): item is PairedCall {
  return 'response' in item;
}

export function callsOf(turn: Turn): PairedCall[] {
  return turn.role === 'model' ? turn.items.filter(isCall) : [];
}

function userTurn({ parts }: Message): Turn | undefined {
  const kept = parts.filter((part) => part.text !== '' && !part.functionCall && !part.functionResponse);
  return kept.length > 0 ? { role: 'user', parts: kept } : undefined;
}

/** After a repair the results are in the next message, in the order of the calls. */
function modelTurn({ parts, provider }: Message, next: Message | undefined): Turn | undefined {
  const responses = next?.parts.flatMap(({ functionResponse }) => functionResponse ?? []) ?? [];
  const items = parts.flatMap((part): (Part | PairedCall)[] => {
    const { functionCall, thoughtSignature } = part;
    if (!functionCall) return part.text || thoughtSignature || part.inlineData ? [part] : [];
    const { id = '', name, args = {} } = functionCall;
    return [{ id, name: safeName(name), args, thoughtSignature, response: responses.shift() ?? {} }];
  });
  return items.length > 0 ? { role: 'model', items, provider } : undefined;
}

/** Providers reject a whole conversation for one invalid name that a model once made up. */
function safeName(name = ''): string {
  return /^[A-Za-z0-9_-]{1,64}$/.test(name)
    ? name
    : name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 64) || 'unnamed_call';
}

export function isFailure({ response }: FunctionResponse): boolean {
  return response?.['error'] !== undefined;
}

/** What a tool returned, in its order: text, images, sounds, documents. */
export function resultParts(response: FunctionResponse): Part[] {
  const parts = response.parts ?? [];
  if (parts.some(({ text }) => text !== undefined)) return parts.map((part) => ({ ...part }));
  const text = isFailure(response) ? `Error: ${responseText(response)}` : responseText(response);
  return [...(text === '' ? [] : [{ text }]), ...parts];
}

/** A result for providers whose results are text, with a mark where each medium follows in a message of its own. */
export function resultAsText(response: FunctionResponse): string {
  return resultParts(response)
    .map((part, index) => part.text ?? `[${placeOf(part, index)}, sent below]`)
    .join('\n');
}

/** The media of results, each named by its place in the result of its call, in order. */
export function mediaBelow(calls: readonly PairedCall[]): Part[] {
  return calls.flatMap(({ name, response }) =>
    resultParts(response).flatMap((part, index) =>
      part.text === undefined ? [{ text: `From ${name}, ${placeOf(part, index)}:` }, part] : [],
    ),
  );
}

function placeOf({ inlineData, fileData }: Part, index: number): string {
  return `part ${index + 1}: ${inlineData?.mimeType ?? fileData?.mimeType ?? 'a file'}`;
}
