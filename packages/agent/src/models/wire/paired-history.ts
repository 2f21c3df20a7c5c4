import type { FunctionResponse, Part } from '@lathe/core';
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

/** The result as text, for providers whose results are text. */
export function responseText({ response = {} }: FunctionResponse): string {
  if (typeof response['error'] === 'string') return `Error: ${response['error']}`;
  const { output } = response;
  return typeof output === 'string' ? output : JSON.stringify(output ?? response);
}

/** Images and documents that a tool returned besides its text. */
export function responseMedia({ parts = [] }: FunctionResponse): Part[] {
  return parts.map(({ inlineData, fileData }) => ({
    ...(inlineData && { inlineData }),
    ...(fileData && { fileData }),
  }));
}
