import type { Budgets } from '@lathe/agent';
import type { Flags } from '../command-line/args.js';

/** The limits of a session that the command line sets. */
export function flagBudgets({ maxTurns, maxTokens, maxMinutes }: Flags): Budgets {
  return {
    ...(maxTurns !== undefined && { turns: maxTurns }),
    ...(maxTokens !== undefined && { tokens: maxTokens }),
    ...(maxMinutes !== undefined && { milliseconds: maxMinutes * 60_000 }),
  };
}
