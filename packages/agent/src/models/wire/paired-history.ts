import type { FunctionResponse, Part } from '@lathe/core';
import type { Message } from '../model.js';

/** A call with the one result that belongs to it. */
export interface PairedCall {
  id: string;
  name: string;
  args: Record<string, unknown>;
  thoughtSignature?: string | undefined;
  response: FunctionResponse;
}

export type Turn =
  | { role: 'user'; parts: Part[] }
  /** `items` holds text and reasoning parts and calls in the order in which the model wrote them. */
  | { role: 'model'; items: (Part | PairedCall)[]; provider: string | undefined };

/**
 * The history in the only form every provider accepts: each call has exactly one result directly after it, no result
 * stands without its call, nothing is empty, and ids are unique. Whatever an abort, a crash or a compaction left behind
 * is mended here, on the way out; the history itself is not touched.
 */
export function pairHistory(history: readonly Message[]): Turn[] {
  const turns: Turn[] = [];
  for (const [index, message] of history.entries()) {
    if (message.role === 'tool') continue;
    const turn = turnOf(message, toolMessagesAfter(history, index));
    const last = turns.at(-1);
    if (!turn) continue;
    if (turn.role === 'user' && last?.role === 'user')
      turns.splice(-1, 1, { role: 'user', parts: [...last.parts, ...turn.parts] });
    else turns.push(turn);
  }
  return turns;
}

/** Messages do not change once they are in a history, so each is paired once. */
const paired = new WeakMap<Message, { results: readonly Message[]; turn: Turn | undefined }>();

function turnOf(message: Message, results: readonly Message[]): Turn | undefined {
  const known = paired.get(message);
  if (known?.results.length === results.length && results.every((each, index) => each === known.results[index]))
    return known.turn;
  const turn = message.role === 'user' ? userTurn(message) : modelTurn(message, results.flatMap(responsesIn));
  paired.set(message, { results, turn });
  return turn;
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

function modelTurn({ parts, provider }: Message, results: FunctionResponse[]): Turn | undefined {
  const items: (Part | PairedCall)[] = [];
  const taken = new Set<string>();
  for (const [position, part] of parts.entries()) {
    const { functionCall, thoughtSignature } = part;
    if (!functionCall) {
      if (part.text || part.thoughtSignature || part.inlineData) items.push(part);
      continue;
    }
    const found = results.findIndex(({ id, name }) =>
      id === undefined ? name === functionCall.name : id === functionCall.id,
    );
    const [response = interrupted] = found < 0 ? [] : results.splice(found, 1);
    const id = functionCall.id && !taken.has(functionCall.id) ? functionCall.id : `unnamed_${position}`;
    taken.add(id);
    items.push({ id, name: safeName(functionCall.name), args: functionCall.args ?? {}, thoughtSignature, response });
  }
  return items.length > 0 ? { role: 'model', items, provider } : undefined;
}

const interrupted: FunctionResponse = { response: { error: 'The call was interrupted; it has no result.' } };

/** The tool messages that follow a model message, up to the next one of another role. */
function toolMessagesAfter(history: readonly Message[], index: number): Message[] {
  const found: Message[] = [];
  for (let next = index + 1; ; next++) {
    const message = history[next];
    if (message?.role !== 'tool') return found;
    found.push(message);
  }
}

function responsesIn({ parts }: Message): FunctionResponse[] {
  return parts.flatMap(({ functionResponse }) => functionResponse ?? []);
}

/** Providers refuse a whole conversation for one odd name that a model once made up. */
function safeName(name = ''): string {
  return /^[A-Za-z0-9_-]{1,64}$/.test(name)
    ? name
    : name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 64) || 'unnamed_call';
}

/** What a tool said, as text, for providers whose results are text. */
export function responseText({ response = {} }: FunctionResponse): string {
  if (typeof response['error'] === 'string') return `Error: ${response['error']}`;
  const { output } = response;
  return typeof output === 'string' ? output : JSON.stringify(output ?? response);
}

export function isFailure({ response = {} }: FunctionResponse): boolean {
  return response['error'] !== undefined;
}

/** Pictures and documents that a tool returned beside its text. */
export function responseMedia({ parts = [] }: FunctionResponse): Part[] {
  return parts.map(({ inlineData, fileData }) => ({
    ...(inlineData ? { inlineData } : {}),
    ...(fileData ? { fileData } : {}),
  }));
}
