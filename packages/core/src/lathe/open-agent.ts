import { join } from 'node:path';
import { Agent } from '../agent/agent.js';
import type { ContextSource, ContextText } from '../agent/agent-options.js';
import type { Budgets, Price } from '../agent/budget.js';
import { ContextFiles } from '../agent/context-files.js';
import type { Hooks } from '../agent/hooks.js';
import { systemPrompt } from '../agent/system-prompt.js';
import { ToolShelf } from '../agent/tool-shelf.js';
import type { Message, Model } from '../models/model.js';
import type { Approver } from '../scheduler/call.js';
import type { Settings } from '../settings/keys.js';
import type { Lathe } from './create-lathe.js';

export interface OpenAgentOptions {
  model: Model;
  /** Writes summaries; the model itself when left out. */
  sideModel?: Model;
  /** Answers this agent's confirmations, instead of the one the library was set up with. */
  approver?: Approver;
  /** An earlier conversation to go on with. */
  history?: readonly Message[];
  /** Besides those of the settings; the smaller one counts. */
  budgets?: Budgets;
  /** Instead of our own instructions. */
  instructions?: string;
}

/** An agent that works with the tools, the policy and the settings of `lathe`. */
export function openAgent(lathe: Lathe, options: OpenAgentOptions): Agent {
  const { workspace, registry, settings, hooks } = lathe;
  const { model, sideModel, history, instructions } = options;
  const price = priceOf(settings, model);
  const approver = options.approver ?? lathe.approver;
  const agent = new Agent({
    model,
    ...(sideModel && { sideModel }),
    system: systemPrompt(
      { cwd: workspace.root, platform: process.platform, date: new Date().toISOString().slice(0, 10) },
      instructions,
    ),
    tools: new ToolShelf(registry),
    openRunner: (onEvent) => lathe.openScheduler({ onEvent, approver: hooks ? announcing(approver, hooks) : approver }),
    ...(history && { history }),
    budgets: smaller(budgetsOf(settings), options.budgets ?? {}),
    ...(price && { price }),
    ...(settings.model.maxOutputTokens !== undefined && { maxOutputTokens: settings.model.maxOutputTokens }),
    ...(hooks && { hooks }),
    context: withSessionStart(contextFiles(lathe), hooks),
    remarks: () => (lathe.policy.mode === 'plan' ? planReminder : ''),
    skipLoopDetection: settings.model.skipLoopDetection,
  });
  hooks?.onNotice((message) => agent.report({ type: 'notice', level: 'warning', message }));
  return agent;
}

const planReminder =
  '[Plan mode: only calls that change nothing run. Look around, then present your plan with exit_plan_mode.]';

function contextFiles({ workspace, settings, home, userHome, loaded }: Lathe): ContextFiles {
  return new ContextFiles({
    names: settings.context.fileName,
    workspace,
    personalFolders: [home.path, join(userHome, '.qwen')],
    userHome,
    isTrusted: loaded.isTrusted,
  });
}

/** What SessionStart hooks say comes before the files. */
function withSessionStart(files: ContextFiles, hooks: Hooks | undefined): ContextSource {
  if (!hooks) return files;
  return {
    touched: (args) => files.touched(args),
    async opening(): Promise<ContextText> {
      const { context, notices } = await hooks.sessionStart('startup', new AbortController().signal);
      const loaded = await files.opening();
      return {
        text: [context, loaded.text].filter(Boolean).join('\n'),
        notices: [...notices.map((message) => ({ level: 'warning' as const, message })), ...loaded.notices],
      };
    },
  };
}

/** Tells Notification hooks that a person is waited for. */
function announcing(approver: Approver, hooks: Hooks): Approver {
  return {
    decide(request, signal) {
      hooks.notification(`Lathe needs your permission to use ${request.displayName}`, signal).catch(() => undefined);
      return approver.decide(request, signal);
    },
  };
}

function budgetsOf({ model }: Settings): Budgets {
  return {
    ...(model.maxSessionTurns >= 0 && { turns: model.maxSessionTurns }),
    ...(model.maxSessionTokens >= 0 && { tokens: model.maxSessionTokens }),
    ...(model.maxSessionMinutes >= 0 && { milliseconds: model.maxSessionMinutes * 60_000 }),
    ...(model.maxSessionCents >= 0 && { cost: model.maxSessionCents }),
  };
}

/** Prices are in cents, as the budget is. */
function priceOf({ model: { prices } }: Settings, model: Model): Price | undefined {
  const price = prices[model.id] ?? prices[`${model.provider}/${model.id}`];
  return price && { input: price.input, output: price.output, ...optional(price.cachedInput) };
}

const optional = (cachedInput: number | undefined) => (cachedInput === undefined ? {} : { cachedInput });

function smaller(a: Budgets, b: Budgets): Budgets {
  const keys = ['turns', 'tokens', 'milliseconds', 'cost'] as const;
  const least = (key: (typeof keys)[number]) => Math.min(a[key] ?? Infinity, b[key] ?? Infinity);
  return Object.fromEntries(keys.filter((key) => least(key) !== Infinity).map((key) => [key, least(key)]));
}
