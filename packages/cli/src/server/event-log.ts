import type { AgentEvent } from '@lathe/agent';
import type { SessionEvent } from '@lathe/agent/client';
import { eventJson } from './event-json.js';

/** An event as it is sent. */
export interface LoggedEvent {
  id: number;
  json: string;
}

export interface LogLimits {
  maxEvents?: number;
  maxChars?: number;
}

const maxKeptEvents = 10_000;
const maxKeptChars = 4_000_000;

/**
 * The latest events of a session, for those who come later or come back. Bounded: the oldest go first. What a later event
 * replaces is not kept either: pieces of an answer once it is there, and all but the latest output of a call.
 */
export class EventLog {
  readonly #limits: Required<LogLimits>;
  readonly #listeners = new Set<() => void>();
  /** By id, ascending. */
  readonly #events: LoggedEvent[] = [];
  /** Ids of events that a later one replaces, by what they show. */
  readonly #replaceable = new Map<string, number[]>();
  #chars = 0;
  #lastId = 0;
  /** The newest event that was dropped although nothing replaced it. */
  #droppedId = 0;

  constructor({ maxEvents = maxKeptEvents, maxChars = maxKeptChars }: LogLimits = {}) {
    this.#limits = { maxEvents, maxChars };
  }

  get lastId(): number {
    return this.#lastId;
  }

  add(event: AgentEvent | SessionEvent): void {
    const id = ++this.#lastId;
    const json = `{"time":${Date.now()},${eventJson(event).slice(1)}`;
    this.#replace(event, id);
    this.#events.push({ id, json });
    this.#chars += json.length;
    while (this.#events.length > this.#limits.maxEvents || this.#chars > this.#limits.maxChars) this.#dropOldest();
    for (const listener of this.#listeners) listener();
  }

  /** The first event after this one. `hasGap`: others between them are no longer there. */
  next(after: number): (LoggedEvent & { hasGap: boolean }) | undefined {
    const event = this.#events[this.#indexAfter(after)];
    return event && { ...event, hasGap: after < this.#droppedId };
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
    const output = `${place}/${callOf(event)}`;
    if (event.type === 'text-delta' || event.type === 'reasoning-delta') this.#replaceable.get(answer)?.push(id);
    if (event.type === 'turn-start' || event.type === 'retry' || event.type === 'message-add') {
      this.#removeAll(answer);
      this.#replaceable.set(answer, []);
    }
    if (event.type === 'call-output' || event.type === 'call-end') this.#removeAll(output);
    if (event.type === 'call-output') this.#replaceable.set(output, [id]);
  }

  #removeAll(what: string): void {
    for (const id of this.#replaceable.get(what) ?? []) {
      const index = this.#indexAfter(id - 1);
      const event = this.#events[index];
      if (event?.id !== id) continue;
      this.#events.splice(index, 1);
      this.#chars -= event.json.length;
    }
    this.#replaceable.delete(what);
  }

  #dropOldest(): void {
    const event = this.#events.shift();
    this.#chars -= event?.json.length ?? 0;
    this.#droppedId = event?.id ?? this.#droppedId;
  }

  #indexAfter(id: number): number {
    let [low, high] = [0, this.#events.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#events[middle]?.id ?? 0) <= id) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function callOf(event: AgentEvent | SessionEvent): string {
  if (event.type === 'call-output') return event.callId;
  return event.type === 'call-end' ? event.outcome.callId : '';
}
