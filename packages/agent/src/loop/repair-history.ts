import type { FunctionCall, FunctionResponse, Part } from '@lathe/core';
import type { Message } from '../models/model.js';

/**
 * A history that any provider accepts, out of one that an abort, a crash, a compaction or an edited file left behind:
 * calls only in `model` messages, each answered once, in order, by the `tool` message right after; no result without
 * its call; no empty message. A message that is right already is kept as it is, the same object. Repairing twice
 * changes nothing.
 */
export function repairHistory(history: readonly Message[]): Message[] {
  const repaired: Message[] = [];
  const taken = new Set<string>();
  for (const [index, message] of history.entries()) {
    if (message.role === 'tool') continue;
    if (message.role === 'user') {
      repaired.push(...keep(message, (part) => !part.functionCall && !part.functionResponse));
      continue;
    }
    const [answer] = keep(message, (part) => !part.functionResponse);
    if (!answer) continue;
    const following = resultsAfter(history, index);
    const { message: identified, calls } = identify(answer, taken);
    repaired.push(identified);
    if (calls.length > 0) repaired.push(pair(calls, following));
  }
  return repaired;
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
  let isChanged = false;
  const parts = message.parts.map((part) => {
    if (!part.functionCall) return part;
    const original = part.functionCall.id;
    const id = freeId(original, taken);
    const call = { ...part.functionCall, id };
    calls.push({ call, original });
    if (id === original) return part;
    isChanged = true;
    return { ...part, functionCall: call };
  });
  return { message: isChanged ? { ...message, parts } : message, calls };
}

function freeId(wanted: string | undefined, taken: Set<string>): string {
  let id = wanted || `repaired_${taken.size}`;
  for (let n = 2; taken.has(id); n++) id = `${wanted || `repaired_${taken.size}`}_${n}`;
  taken.add(id);
  return id;
}

interface StoredResults {
  messages: readonly Message[];
  responses: FunctionResponse[];
}

function resultsAfter(history: readonly Message[], index: number): StoredResults {
  const messages: Message[] = [];
  for (let next = index + 1; history[next]?.role === 'tool'; next++) {
    const message = history[next];
    if (message) messages.push(message);
  }
  return { messages, responses: messages.flatMap(({ parts }) => parts.flatMap((part) => part.functionResponse ?? [])) };
}

function pair(calls: readonly IdentifiedCall[], { messages, responses }: StoredResults): Message {
  const [only] = messages;
  if (only && messages.length === 1 && answers(only, calls)) return only;
  const open = [...responses];
  const parts = calls.map(({ call, original }) => {
    const found = open.findIndex(({ id, name }) => (id ? id === original : name === call.name));
    const [response] = found < 0 ? [] : open.splice(found, 1);
    const { name } = call;
    return { functionResponse: { ...(response ?? interrupted), id: call.id, ...(name !== undefined && { name }) } };
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
