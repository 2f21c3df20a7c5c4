import { type AgentEvent, type AgentLathe } from '@lathe/agent';
import type { Approver, CallOutcome, CallRequest } from '@lathe/core';

/** Runs calls that a person made and yields their events as an agent does. Returns their outcomes. */
export async function* runCalls(
  lathe: Pick<AgentLathe, 'openScheduler'>,
  calls: readonly CallRequest[],
  signal: AbortSignal,
  approver?: Approver,
): AsyncGenerator<AgentEvent, CallOutcome[]> {
  const run = lathe.openScheduler({ ...(approver && { approver }) }).run(calls, signal);
  // Only agents start subagents.
  for await (const event of run) if (event.type !== 'subagent-event') yield event;
  return run;
}

/** Runs `!command`. The person typed it, so it needs no further approval. Deny rules still apply. */
export async function* runTypedCommand(
  lathe: Pick<AgentLathe, 'openScheduler'>,
  input: string,
  signal: AbortSignal,
): AsyncGenerator<AgentEvent, CallOutcome | undefined> {
  const call = { name: 'run_shell_command', args: { command: input.replace(/^!+/, '').trim() } };
  const [outcome] = yield* runCalls(lathe, [call], signal, { decide: async () => ({ outcome: 'once' }) });
  return outcome;
}
