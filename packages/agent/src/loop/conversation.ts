import type { FunctionCall, FunctionResponse, Part } from '@lathe/core';
import { estimateMessageTokens } from '../models/estimate-tokens.js';
import type { Message } from '../models/model.js';
import { repairHistory } from './repair-history.js';

/**
 * The history of one agent. Messages are only ever added at the end, so that its beginning stays what a provider has
 * cached; `replace` is for compaction. Every call in it has exactly one result in the message that follows.
 */
export class Conversation {
  #messages: Message[];
  #ids: Set<string>;
  #tokens = 0;

  /** Takes a stored history whatever state it is in and mends it. */
  constructor(history: readonly Message[] = []) {
    this.#messages = repairHistory(history);
    this.#ids = idsOf(this.#messages);
    this.#tokens = tokensOf(this.#messages);
  }

  get messages(): readonly Message[] {
    return this.#messages;
  }

  /** What the history costs, by our own estimate. */
  get tokens(): number {
    return this.#tokens;
  }

  addUser(parts: Part[]): Message {
    return this.#add({ role: 'user', parts });
  }

  /**
   * Adds an answer and returns it as it now stands, with ids that are unique in this conversation. An answer without
   * parts is not added.
   */
  addAnswer(message: Message): Message {
    const parts = message.parts.map((part) =>
      part.functionCall ? { ...part, functionCall: this.#identify(part.functionCall) } : part,
    );
    const answer = { ...message, parts };
    return parts.length > 0 ? this.#add(answer) : answer;
  }

  addResults(responses: readonly FunctionResponse[]): Message {
    return this.#add({ role: 'tool', parts: responses.map((functionResponse) => ({ functionResponse })) });
  }

  /** Answers calls that were never run, so that the next request is valid. */
  settle(): void {
    const last = this.#messages.at(-1);
    if (last?.role === 'model' && callsOf(last).length > 0) this.replace(this.#messages);
  }

  replace(messages: readonly Message[]): void {
    this.#messages = repairHistory(messages);
    this.#tokens = tokensOf(this.#messages);
  }

  #add(message: Message): Message {
    this.#messages.push(message);
    this.#tokens += estimateMessageTokens(message);
    return message;
  }

  /** Models reuse and forget ids; results are matched by them, so each call needs one of its own. */
  #identify(call: FunctionCall): FunctionCall {
    const wanted = call.id || 'call';
    let id = wanted;
    for (let n = this.#ids.size; id === 'call' || this.#ids.has(id); n++) id = `${wanted}_${n}`;
    this.#ids.add(id);
    return id === call.id ? call : { ...call, id };
  }
}

export function callsOf(message: Message): FunctionCall[] {
  return message.parts.flatMap(({ functionCall }) => functionCall ?? []);
}

function idsOf(messages: readonly Message[]): Set<string> {
  return new Set(messages.flatMap((message) => callsOf(message).flatMap(({ id }) => id ?? [])));
}

function tokensOf(messages: readonly Message[]): number {
  return messages.reduce((sum, message) => sum + estimateMessageTokens(message), 0);
}
