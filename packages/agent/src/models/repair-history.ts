import type { FunctionCall, FunctionResponse, Part } from '@lathe/core';
import { uniqueId } from '@lathe/core/host';
import type { Message } from './model.js';

/**
 * Makes a history that any provider accepts out of one that an abort, a crash, a compaction or an edited file left
 * behind: calls only in `model` messages, each with a unique id and one result, in order, in the `tool` message right
 * after; no result without its call; no empty message. Valid messages stay the same objects, so repairing twice changes
 * nothing. Adds the ids of all calls to `taken`.
 */
export function repairHistory(history: readonly Message[], taken = new Set<string>()): Message[] {
  return history.flatMap((message, index) => {
    if (message.role === 'tool') return [];
    if (message.role === 'user') return keep(message, (part) => !part.functionCall && !part.functionResponse);
    const [answer] = keep(message, (part) => !part.functionResponse);
    if (!answer) return [];
    const { message: identified, calls } = identify(answer, taken);
    return calls.length > 0 ? [identified, pair(calls, toolMessagesAfter(history, index))] : [identified];
  });
}

function keep(message: Message, isAllowed: (part: Part) => boolean): Message[] {
  if (message.parts.length > 0 && message.parts.every(isAllowed)) return [message];
  const parts = message.parts.filter(isAllowed);
  return parts.length > 0 ? [{ ...message, parts }] : [];
}

interface IdentifiedCall {
  call: FunctionCall & { id: string };
  /** The id under which its result is stored. */
  original: string | undefined;
}

/** Gives calls without an id, or with one used before, an id of their own. */
function identify(message: Message, taken: Set<string>): { message: Message; calls: IdentifiedCall[] } {
  const calls: IdentifiedCall[] = [];
  const parts = message.parts.map((part) => {
    if (!part.functionCall) return part;
    const original = part.functionCall.id;
    const call = { ...part.functionCall, id: uniqueId(original, taken) };
    calls.push({ call, original });
    return { ...part, functionCall: call };
  });
  const isChanged = calls.some(({ call, original }) => call.id !== original);
  return { message: isChanged ? { ...message, parts } : message, calls };
}

function toolMessagesAfter(history: readonly Message[], index: number): readonly Message[] {
  let end = index + 1;
  while (history[end]?.role === 'tool') end += 1;
  return history.slice(index + 1, end);
}

function pair(calls: readonly IdentifiedCall[], messages: readonly Message[]): Message {
  const [only] = messages;
  if (only && messages.length === 1 && answers(only, calls)) return only;
  const open = messages.flatMap(({ parts }) => parts.flatMap((part) => part.functionResponse ?? []));
  const parts = calls.map(({ call, original }) => {
    const found = open.findIndex(({ id, name }) => (id ? id === original : name === call.name));
    const [response = interrupted] = found < 0 ? [] : open.splice(found, 1);
    const { id, name } = call;
    return { functionResponse: { ...response, id, ...(name !== undefined && { name }) } };
  });
  return { role: 'tool', parts };
}

function answers({ parts }: Message, calls: readonly IdentifiedCall[]): boolean {
  return (
    parts.length === calls.length &&
    parts.every(({ functionResponse }, index) => functionResponse && functionResponse.id === calls[index]?.call.id)
  );
}

const interrupted: FunctionResponse = {
  response: { error: 'The call was interrupted; whether it had an effect is not known.' },
};
