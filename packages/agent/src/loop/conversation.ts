import { type FunctionCall, type FunctionResponse, type Part, textOf } from '@lathe/core';
import { uniqueId } from '@lathe/core/host';
import { estimateHistoryTokens, estimateMessageTokens } from '../models/estimate-tokens.js';
import type { Message } from '../models/model.js';
import { repairHistory } from '../models/repair-history.js';

/**
 * The history of one agent. Messages are only added at the end, so that its beginning stays in the provider's cache;
 * `replace` is for compaction. Every call has exactly one result in the next message.
 */
export class Conversation {
  #messages: Message[];
  /** Ids of all calls so far, also of those that a compaction removed. */
  readonly #callIds = new Set<string>();
  #tokens = 0;

  /** Repairs a stored history, whatever state it is in. */
  constructor(history: readonly Message[] = []) {
    this.#messages = repairHistory(history, this.#callIds);
    this.#tokens = estimateHistoryTokens(this.#messages);
  }

  get messages(): readonly Message[] {
    return this.#messages;
  }

  /** Our estimate for the whole history. */
  get tokens(): number {
    return this.#tokens;
  }

  /** `askedAt`: where the words of the person begin. */
  addUser(parts: Part[], askedAt = 0): Message {
    return this.#add({ role: 'user', parts, ...(askedAt !== 0 && { askedAt }) });
  }

  /**
   * Adds an answer and returns it with call ids that are unique in this conversation: models reuse and omit ids, and
   * results are matched with calls by id. An answer without parts is not added.
   */
  addAnswer(message: Message): Message {
    const parts = message.parts.map((part) => {
      if (!part.functionCall) return part;
      return { ...part, functionCall: { ...part.functionCall, id: uniqueId(part.functionCall.id, this.#callIds) } };
    });
    const answer = { ...message, parts };
    return parts.length > 0 ? this.#add(answer) : answer;
  }

  addResults(responses: readonly FunctionResponse[]): Message {
    return this.#add({ role: 'tool', parts: responses.map((functionResponse) => ({ functionResponse })) });
  }

  /** Adds results for calls that never ran, so that the next request is valid. */
  settle(): void {
    const last = this.#messages.at(-1);
    if (last?.role === 'model' && callsOf(last).length > 0) this.replace(this.#messages);
  }

  replace(messages: readonly Message[]): void {
    this.#messages = repairHistory(messages);
    this.#tokens = estimateHistoryTokens(this.#messages);
  }

  #add(message: Message): Message {
    this.#messages.push(message);
    this.#tokens += estimateMessageTokens(message);
    return message;
  }
}

/** What the person wrote, without the files and instructions around it. */
export function askedText({ role, parts, askedAt = 0 }: Message): string {
  return role === 'user' ? (parts[askedAt]?.text ?? '').trim() : '';
}

export function callsOf(message: Message): FunctionCall[] {
  return message.parts.flatMap(({ functionCall }) => functionCall ?? []);
}

/** What the model says, without its reasoning. */
export function answerText({ parts }: Message): string {
  return textOf(parts.filter(({ thought }) => !thought)).trim();
}

/** Neither text nor calls; white space and reasoning do not count. */
export function saysNothing(message: Message): boolean {
  return callsOf(message).length === 0 && answerText(message) === '';
}
