import type { Settings } from '@lathe/core';
import type { Model } from '../models/model.js';
import type { Budgets, Price } from './budget.js';

/** What the settings allow an agent to spend in a session. */
export function sessionBudgets({ model }: Settings): Budgets {
  return {
    ...(model.maxSessionTurns >= 0 && { turns: model.maxSessionTurns }),
    ...(model.maxSessionTokens >= 0 && { tokens: model.maxSessionTokens }),
    ...(model.maxSessionMinutes >= 0 && { milliseconds: model.maxSessionMinutes * 60_000 }),
    ...(model.maxSessionCents >= 0 && { cost: model.maxSessionCents }),
  };
}

/** What the settings allow a subagent to spend on one task. */
export function taskBudgets({ agents }: Settings): Budgets {
  return { turns: agents.maxTurns, milliseconds: agents.maxMinutes * 60_000 };
}

/** Of each limit the smaller one. */
export function smallerBudgets(a: Budgets, b: Budgets): Budgets {
  const keys = ['turns', 'tokens', 'milliseconds', 'cost'] as const;
  const least = (key: (typeof keys)[number]) => Math.min(a[key] ?? Infinity, b[key] ?? Infinity);
  return Object.fromEntries(keys.filter((key) => least(key) !== Infinity).map((key) => [key, least(key)]));
}

/** Prices are in cents, as the budget is. */
export function priceOf({ model: { prices } }: Settings, model: Model): Price | undefined {
  const price = prices[model.id] ?? prices[`${model.provider}/${model.id}`];
  return price && { input: price.input, output: price.output, ...optional(price.cachedInput) };
}

const optional = (cachedInput: number | undefined) => (cachedInput === undefined ? {} : { cachedInput });
