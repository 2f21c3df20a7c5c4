import type { AgentEvent } from '@lathe/agent';
import type { Approver, CallOutcome, CallRequest, Lathe } from '@lathe/core';

/** Runs calls of a person's own and yields what happens to them, as an agent's events. Returns their outcomes. */
export async function* callEvents(
  lathe: Lathe,
  calls: readonly CallRequest[],
  signal: AbortSignal,
  approver?: Approver,
): AsyncGenerator<AgentEvent, CallOutcome[]> {
  const events: AgentEvent[] = [];
  const wake = new Alarm();
  const onEvent = (event: AgentEvent) => {
    events.push(event);
    wake.up();
  };
  const scheduler = lathe.openScheduler({ onEvent, ...(approver && { approver }) });
  const stopListening = lathe.hooks?.onNotice((message) => onEvent({ type: 'notice', level: 'warning', message }));
  const state = { isDone: false };
  const outcomes = scheduler.run(calls, signal).finally(() => {
    stopListening?.();
    state.isDone = true;
    wake.up();
  });
  while (!state.isDone || events.length > 0) {
    for (let event = events.shift(); event; event = events.shift()) yield event;
    if (!state.isDone) await wake.next();
  }
  return outcomes;
}

/** For what a person typed in so many words: their having typed it is the approval. Deny rules still hold. */
export const typedByPerson: Approver = { decide: async () => ({ outcome: 'once' }) };

/** Wakes one sleeper; a ring that nobody heard is not lost. */
class Alarm {
  #ring: (() => void) | undefined;
  #hasRung = false;

  up(): void {
    this.#hasRung = true;
    this.#ring?.();
  }

  async next(): Promise<void> {
    if (!this.#hasRung)
      await new Promise<void>((resolve) => {
        this.#ring = resolve;
      });
    this.#hasRung = false;
  }
}
