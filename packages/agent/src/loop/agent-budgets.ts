import type { Settings } from '@lathe/core';
import type { Budgets } from './budget.js';

/** What an agent may spend in a session. */
export function sessionBudgets({ model }: Pick<Settings, 'model'>): Budgets {
  return {
    ...(model.maxSessionTurns >= 0 && { turns: model.maxSessionTurns }),
    ...(model.maxSessionTokens >= 0 && { tokens: model.maxSessionTokens }),
    ...(model.maxSessionMinutes >= 0 && { milliseconds: model.maxSessionMinutes * 60_000 }),
    ...(model.maxSessionCents >= 0 && { cost: model.maxSessionCents }),
  };
}

/** What a subagent may spend on one task. */
export function taskBudgets({ agents }: Pick<Settings, 'agents'>): Budgets {
  return { turns: agents.maxTurns, milliseconds: agents.maxMinutes * 60_000 };
}

/** The smaller one of each limit. */
export function smallerBudgets(a: Budgets, b: Budgets): Budgets {
  const keys = ['turns', 'tokens', 'milliseconds', 'cost'] as const;
  const least = (key: (typeof keys)[number]) => Math.min(a[key] ?? Infinity, b[key] ?? Infinity);
  return Object.fromEntries(keys.filter((key) => least(key) !== Infinity).map((key) => [key, least(key)]));
}
