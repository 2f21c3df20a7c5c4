import type { Settings } from '@lathe/core';
import type { Usage } from '../models/model.js';
import type { BudgetReason } from './agent-event.js';

/** What an agent may spend over its life. Default: no limit. */
export interface Budgets {
  turns?: number;
  /** Input and output together, including cached tokens. */
  tokens?: number;
  /** Time spent on prompts. */
  milliseconds?: number;
  /** In cents. */
  cost?: number;
}

/** What an agent has spent. */
export interface Spending {
  usage: Usage;
  turns: number;
  /** Time spent on prompts. */
  milliseconds: number;
  /** In cents. Missing when the price of a model is not known. */
  cost?: number;
}

/** The usage of a model that has not been asked yet. */
export const noUsage: Readonly<Usage> = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, reasoningTokens: 0 };

/** Counts what an agent has spent and checks it against the limits. */
export class Budget {
  turns = 0;
  readonly usage: Usage = { ...noUsage };
  /** Of the requests whose price is known. */
  cost = 0;
  /** Requests whose price is not known. */
  unpriced = 0;
  milliseconds = 0;
  readonly limits: Budgets;

  constructor(limits: Budgets = {}) {
    this.limits = limits;
  }

  add(usage: Usage, cost: number | undefined): void {
    addUsage(this.usage, usage);
    if (cost === undefined) this.unpriced += 1;
    else this.cost += cost;
  }

  /** What everything so far cost, or undefined when the price of some of it is not known. */
  get knownCost(): number | undefined {
    return this.unpriced === 0 ? this.cost : undefined;
  }

  /** What this agent and its subagents may still spend on tokens. */
  left(): Pick<Budgets, 'tokens' | 'cost'> {
    const { tokens, cost } = this.limits;
    return {
      ...(tokens !== undefined && { tokens: Math.max(0, tokens - this.#tokens) }),
      ...(cost !== undefined && { cost: Math.max(0, cost - this.cost) }),
    };
  }

  /** Why no further request is allowed, if so. */
  exceeded(): { reason: BudgetReason; message: string } | undefined {
    const { turns, tokens, milliseconds, cost } = this.limits;
    if (turns !== undefined && this.turns >= turns)
      return { reason: 'max-turns', message: `Stopped after ${turns} turns, the limit that was set.` };
    if (tokens !== undefined && this.#tokens >= tokens)
      return { reason: 'max-tokens', message: `Stopped after ${this.#tokens} tokens; the limit is ${tokens}.` };
    if (milliseconds !== undefined && this.milliseconds >= milliseconds)
      return { reason: 'max-time', message: timeMessage(milliseconds) };
    if (cost !== undefined && this.unpriced > 0) return { reason: 'max-cost', message: `Stopped: ${unpriced}` };
    if (cost !== undefined && this.cost >= cost)
      return {
        reason: 'max-cost',
        message: `Stopped at a cost of ${this.cost.toFixed(2)} cents; the limit is ${cost}.`,
      };
    return undefined;
  }

  get #tokens(): number {
    return this.usage.inputTokens + this.usage.outputTokens;
  }
}

/** A limit that cannot be checked stops the work rather than being ignored. */
export const unpriced = 'a cost limit is set, but the price of the model is not known. Add it to model.prices.';

export function timeMessage(milliseconds: number): string {
  return `Stopped after ${milliseconds / 1000} s, the time limit that was set.`;
}

/** Adds the tokens of another request to a sum. */
export function addUsage(sum: Usage, more: Usage): void {
  sum.inputTokens += more.inputTokens;
  sum.outputTokens += more.outputTokens;
  sum.cachedInputTokens += more.cachedInputTokens;
  sum.reasoningTokens += more.reasoningTokens;
  if (more.cacheWriteTokens) sum.cacheWriteTokens = (sum.cacheWriteTokens ?? 0) + more.cacheWriteTokens;
  if (more.isEstimate) sum.isEstimate = true;
}

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

/** What is left of limits after `spent`. */
export function budgetsLeft(limits: Budgets, { turns, usage, milliseconds, cost = 0 }: Spending): Budgets {
  const spent = { turns, tokens: usage.inputTokens + usage.outputTokens, milliseconds, cost };
  const keys = ['turns', 'tokens', 'milliseconds', 'cost'] as const;
  const left = keys.flatMap((key) => {
    const limit = limits[key];
    return limit === undefined ? [] : [[key, Math.max(0, limit - spent[key])]];
  });
  return Object.fromEntries(left);
}

/** What two agents have spent together. */
export function addSpending(a: Spending, b: Spending): Spending {
  const usage = { ...a.usage };
  addUsage(usage, b.usage);
  return {
    usage,
    turns: a.turns + b.turns,
    milliseconds: a.milliseconds + b.milliseconds,
    ...(a.cost !== undefined && b.cost !== undefined && { cost: a.cost + b.cost }),
  };
}
