import type { AgentEvent } from '@lathe/agent';

/** Ends the work after a no without a reason: the model could only guess what the person wants instead. */
export async function* endAfterNo(
  events: AsyncIterable<AgentEvent>,
  work: Pick<AbortController, 'abort'>,
): AsyncGenerator<AgentEvent> {
  for await (const event of events) {
    yield event;
    if (isPlainNo(event)) work.abort(new Error('the person said no'));
  }
}

function isPlainNo(event: AgentEvent): boolean {
  if (event.type === 'subagent-event') return isPlainNo(event.event);
  if (event.type !== 'call-end') return false;
  const { decision } = event.outcome;
  return decision?.outcome === 'deny' && decision.message === undefined;
}
