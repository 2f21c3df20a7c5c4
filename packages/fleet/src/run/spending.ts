import { type AgentEvent, type PromptEnd, spentIn } from '@lathe/agent';
import type { Job } from '../job/job.js';
import type { Board } from '../queue/board.js';

/**
 * Follows a prompt to its end and calls `onTurn` after every finished turn. Counts what is spent for the whole run on the
 * board, and stops when the run has used up its budget.
 */
export async function follow(
  { job, board }: { job: Job; board: Board },
  prompt: (overspent: AbortSignal) => AsyncGenerator<AgentEvent>,
  onTurn: () => Promise<void>,
): Promise<PromptEnd> {
  const { runTokens = Number.POSITIVE_INFINITY, runCost = Number.POSITIVE_INFINITY } = job.budgets ?? {};
  const overspent = new AbortController();
  const spend = async (tokens: number, cost: number) => {
    const allTokens = await board.add(`spent/${job.run}`, 'tokens', tokens);
    const allCost = await board.add(`spent/${job.run}`, 'cost', cost);
    if (allTokens >= runTokens || allCost >= runCost) overspent.abort();
  };
  await spend(0, 0);
  let turns = 0;
  for await (const event of prompt(overspent.signal)) {
    if (event.type === 'turn-start' && turns++ > 0) await onTurn();
    const spent = spentIn(event);
    if (spent) await spend(spent.request.inputTokens + spent.request.outputTokens, spent.requestCost ?? 0);
    // A call that is not in the transcript would run again after a takeover.
    if (event.type === 'notice' && event.message.startsWith('The session cannot be saved'))
      throw new Error(event.message);
    if (event.type !== 'prompt-end') continue;
    if (!overspent.signal.aborted || event.end.reason === 'done') return event.end;
    return { ...event.end, reason: 'max-cost', message: 'The budget of the whole run is used up.' };
  }
  throw new Error('the agent sent no prompt-end event');
}
