import type { AgentEvent } from '@lathe/agent';
import type { Approver, CallOutcome, CallRequest, Lathe } from '@lathe/core';

/** Runs calls that a person made and yields their events as an agent does. Returns their outcomes. */
export async function* runCalls(
  lathe: Pick<Lathe, 'openScheduler'>,
  calls: readonly CallRequest[],
  signal: AbortSignal,
  approver?: Approver,
): AsyncGenerator<AgentEvent, CallOutcome[]> {
  const run = lathe.openScheduler({ ...(approver && { approver }) }).run(calls, signal);
  // Only agents start subagents.
  for await (const event of run) if (event.type !== 'subagent-event') yield event;
  return run;
}

/** A command that the person typed needs no further approval. Deny rules still apply. */
export const approveTyped: Approver = { decide: async () => ({ outcome: 'once' }) };
