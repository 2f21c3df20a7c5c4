import type { AgentEvent } from '@lathe/agent';
import type { SessionEvent } from '@lathe/agent/client';
import { eventJson } from './event-json.js';

/** An event as it is sent. `hasGap`: others between it and the one before are no longer there. */
interface LoggedEvent {
  id: number;
  json: string;
  hasGap: boolean;
}

const maxKeptEvents = 10_000;
const maxKeptChars = 4_000_000;

/**
 * The latest events of a session, for those who come later or come back. Bounded: the oldest go first. What a later event
 * replaces is not kept either: pieces of an answer once it is there, and all but the latest output of a call.
 */
export class EventLog {
  readonly #limits: { maxEvents: number; maxChars: number };
  readonly #begin: number;
  readonly #listeners = new Set<() => void>();
  /** As JSON by id, in order. */
  readonly #events = new Map<number, string>();
  /** Ids of events that a later one replaces, by what they show. */
  readonly #replaceable = new Map<string, number[]>();
  #chars = 0;
  #lastId: number;
  /** The newest event that was dropped although nothing replaced it. */
  #droppedId: number;

  /** Ids are greater than `begin`, so that the log recognizes an id of an earlier one. */
  constructor({ maxEvents = maxKeptEvents, maxChars = maxKeptChars, begin = 0 } = {}) {
    this.#limits = { maxEvents, maxChars };
    this.#begin = this.#lastId = this.#droppedId = begin;
  }

  get lastId(): number {
    return this.#lastId > this.#begin ? this.#lastId : 0;
  }

  add(event: AgentEvent | SessionEvent): void {
    const id = ++this.#lastId;
    const json = `{"time":${Date.now()},${eventJson(event).slice(1)}`;
    this.#replace(event, id);
    this.#events.set(id, json);
    this.#chars += json.length;
    for (const oldest of this.#events.keys()) {
      if (this.#events.size <= this.#limits.maxEvents && this.#chars <= this.#limits.maxChars) break;
      this.#remove(oldest);
      this.#droppedId = oldest;
    }
    for (const listener of this.#listeners) listener();
  }

  /** The first event after this one; the first of all if this one is from before the session was opened again. */
  next(after: number): LoggedEvent | undefined {
    const isKnown = after === 0 || (after > this.#begin && after <= this.#lastId);
    for (let id = Math.max(isKnown ? after : 0, this.#droppedId) + 1; id <= this.#lastId; id++) {
      const json = this.#events.get(id);
      if (json !== undefined) return { id, json, hasGap: !isKnown || Math.max(after, this.#begin) < this.#droppedId };
    }
    return undefined;
  }

  /** Calls the listener after each event. Returns a function that ends it. */
  onAdd(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  get listenerCount(): number {
    return this.#listeners.size;
  }

  #replace(event: AgentEvent | SessionEvent, id: number, place = ''): void {
    if (event.type === 'subagent-event') return this.#replace(event.event, id, `${place}/${event.callId}`);
    const answer = `${place}/answer`;
    if (event.type === 'text-delta' || event.type === 'reasoning-delta') this.#replaceable.get(answer)?.push(id);
    if (event.type === 'turn-start' || event.type === 'retry' || event.type === 'message-add') {
      this.#removeAll(answer);
      this.#replaceable.set(answer, []);
    }
    if (event.type === 'call-end') this.#removeAll(`${place}/${event.outcome.callId}`);
    if (event.type !== 'call-output') return;
    const output = `${place}/${event.callId}`;
    this.#removeAll(output);
    this.#replaceable.set(output, [id]);
  }

  #removeAll(what: string): void {
    for (const id of this.#replaceable.get(what) ?? []) this.#remove(id);
    this.#replaceable.delete(what);
  }

  #remove(id: number): void {
    this.#chars -= this.#events.get(id)?.length ?? 0;
    this.#events.delete(id);
  }
}
