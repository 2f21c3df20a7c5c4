import type { AgentEvent } from '@lathe/agent';
import type { Approver, CallOutcome, CallRequest, Lathe } from '@lathe/core';

/** Runs calls of a person's own and yields what happens to them, as an agent's events. Returns their outcomes. */
export async function* callEvents(
  lathe: Pick<Lathe, 'openScheduler'>,
  calls: readonly CallRequest[],
  signal: AbortSignal,
  approver?: Approver,
): AsyncGenerator<AgentEvent, CallOutcome[]> {
  const run = lathe.openScheduler({ ...(approver && { approver }) }).run(calls, signal);
  // Subagents work for agents only.
  for await (const event of run) if (event.type !== 'subagent-event') yield event;
  return run;
}

/** For what a person typed in so many words: their having typed it is the approval. Deny rules still hold. */
export const typedByPerson: Approver = { decide: async () => ({ outcome: 'once' }) };
