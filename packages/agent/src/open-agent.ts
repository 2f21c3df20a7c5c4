import { type AnyTool, type Approver, ToolError, ToolRegistry } from '@lathe/core';
import type { ExposureSource, Hooks, PromptHooks, Span } from '@lathe/core/host';
import { builtIn, callSpan, parentSpan, personalFolders } from '@lathe/core/host';
import { ContextFiles } from './context/context-files.js';
import { withDiscovery, withSessionStart } from './context/opening-context.js';
import { basicInstructions, systemPrompt } from './context/system-prompt.js';
import type { AgentLathe } from './create-agent-lathe.js';
import { Agent } from './loop/agent.js';
import type { ContextSource } from './loop/agent-options.js';
import { type Budgets, sessionBudgets, smallerBudgets, taskBudgets } from './loop/budget.js';
import { DeferredTools } from './loop/deferred-tools.js';
import type { Effort, Message, Model } from './models/model.js';
import { ModelError } from './models/model-error.js';
import { openPriceList } from './models/prices.js';
import { openSideModel } from './page-answerer.js';
import { restoreExposure } from './session/restore-exposure.js';
import { isolate } from './subagents/isolated-subagent.js';
import { reportInstructions, type SubagentDefinition } from './subagents/subagent-definition.js';
import { subagentTools } from './subagents/subagent-tools.js';
import { type OpenedSubagent, type ParentAgent, parentAgent } from './subagents/subagents.js';

/** How to open an agent. */
export interface OpenAgentOptions {
  model: Model;
  /** Writes summaries. Default: `model`. */
  sideModel?: Model;
  /** Answers this agent's confirmations. Default: the approver of `createAgentLathe`. */
  approver?: Approver;
  /** How much the model thinks. Default: `model.effort` of the settings. */
  effort?: Effort;
  /** An earlier conversation to continue. */
  history?: readonly Message[];
  /** What came into that conversation. */
  sources?: readonly ExposureSource[];
  /** In addition to those of the settings; the smaller one counts. */
  budgets?: Budgets;
  /** Replace the default instructions. */
  instructions?: string;
  /**
   * Called when a background task has reported; the program then calls `hear` if the agent is idle. Without it, a prompt
   * ends when all its background tasks have ended.
   */
  onMessage?: () => void;
  /** Runs before a call of this agent or its subagents that may change something. */
  beforeChange?: (signal: AbortSignal) => Promise<void>;
}

type ContextHost = Pick<AgentLathe, 'home' | 'loaded' | 'settings' | 'userHome' | 'workspace'>;

/** What an agent uses of an `AgentLathe`. */
export type AgentHost = ContextHost &
  Pick<
    AgentLathe,
    | 'approver'
    | 'discoverOnce'
    | 'exposure'
    | 'hooks'
    | 'openIn'
    | 'openOwnTools'
    | 'openScheduler'
    | 'openTrace'
    | 'policy'
    | 'rewind'
    | 'sideModels'
    | 'tools'
  >;

/** Opens an agent that works with the tools, the policy and the settings of `lathe`. */
export function openAgent(lathe: AgentHost, options: OpenAgentOptions): Agent {
  const { hooks, settings, exposure } = lathe;
  if (exposure && options.history) restoreExposure(exposure, options.history, lathe.workspace);
  for (const source of options.sources ?? []) exposure?.note(source);
  return open(lathe, {
    ...options,
    approver: options.approver ?? lathe.approver,
    budgets: smallerBudgets(sessionBudgets(settings), options.budgets ?? {}),
    depth: 0,
    registry: lathe.tools,
    context: withDiscovery(withSessionStart(openContextFiles(lathe), hooks), lathe.discoverOnce),
    remark: 'Look around, then present your plan with exit_plan_mode.',
    ...(hooks && { hooks }),
    ...(exposure && { onPrompt: (text) => exposure.notePrompt(text) }),
  });
}

interface Place extends OpenAgentOptions {
  approver: Approver;
  budgets: Budgets;
  /** 0 for the agent that talks with the person. */
  depth: number;
  registry: ToolRegistry;
  context: ContextSource;
  /** What to do in plan mode. */
  remark: string;
  /** Called with the prompts of the person. */
  onPrompt?: (text: string) => void;
  hooks?: PromptHooks;
  /** Runs before each call is judged. */
  beforeCall?: () => void;
  /** Of a subagent, and the span of the call that it works for. */
  name?: string;
  parentSpan?: Span | undefined;
}

function open(lathe: AgentHost, place: Place): Agent {
  const { workspace, settings, hooks: allHooks } = lathe;
  const { model, sideModel, history, approver, registry, budgets, context, hooks, beforeChange } = place;
  const { onPrompt, onMessage } = place;
  const effort = place.effort ?? settings.model.effort;
  const parent: ParentAgent = {
    depth: place.depth,
    get agent() {
      return agent;
    },
    open: (definition, signal, call) => {
      const wanted = { ...definition, parentSpan: callSpan.get(call) };
      return definition.isolation === 'worktree'
        ? openIsolated(lathe, place, agent, wanted, signal)
        : openSubagent(lathe, place, agent, wanted, signal).then((opened) => ({ agent: opened }));
    },
  };
  const trace = lathe.openTrace?.({ name: place.name ?? 'lathe', parent: place.parentSpan });
  const agent: Agent = new Agent({
    model,
    ...(sideModel && { sideModel }),
    system: systemPrompt(
      { cwd: workspace.root, platform: process.platform, date: new Date().toISOString().slice(0, 10) },
      place.instructions,
    ),
    tools: new DeferredTools(registry),
    runner: lathe.openScheduler({
      registry,
      approver: allHooks ? withNotification(approver, allHooks) : approver,
      prepareCall: (call) => {
        parentAgent.set(call, parent);
        place.beforeCall?.();
        if (trace?.span) parentSpan.set(call, trace.span);
      },
      ...(beforeChange && { beforeChange }),
    }),
    ...(history && { history }),
    budgets,
    prices: openPriceList(settings.model.prices),
    ...(effort !== undefined && { effort }),
    ...(settings.model.maxOutputTokens !== undefined && { maxOutputTokens: settings.model.maxOutputTokens }),
    ...(hooks && { hooks }),
    ...(onPrompt && { onPrompt }),
    ...(onMessage && { onMessage }),
    context,
    ...(trace && { trace }),
    remarks: () =>
      lathe.policy.mode === 'plan' ? `[Plan mode: only calls that change nothing run. ${place.remark}]` : '',
    skipLoopDetection: settings.model.skipLoopDetection,
  });
  return agent;
}

/** As `openSubagent`, in a worktree: with the built-in tools only, because those of servers and commands work elsewhere. */
function openIsolated(
  lathe: AgentHost,
  place: Place,
  parent: Agent,
  definition: SubagentDefinition & Pick<Place, 'parentSpan'>,
  signal: AbortSignal,
): Promise<OpenedSubagent> {
  const { label = definition.name } = definition;
  const { exposure } = lathe;
  const openIn = (inner: AgentLathe) => {
    const host: AgentHost = {
      ...inner,
      exposure,
      sideModels: lathe.sideModels,
      openTrace: lathe.openTrace,
      openScheduler: (own) => inner.openScheduler({ exposure, ...own }),
      openOwnTools: () => builtInTools(inner.tools).filter(({ name }) => name !== 'task' && name !== 'task_control'),
    };
    const registry = new ToolRegistry();
    for (const tool of builtInTools(place.registry)) registry.registerTool(tool);
    const { beforeChange: _, ...rest } = place;
    const beforeCall = () => {
      inner.policy.mode = lathe.policy.mode;
    };
    return openSubagent(host, { ...rest, registry, beforeCall }, parent, definition, signal);
  };
  const approver = onBehalfOf(label, place.approver);
  return isolate(lathe, { name: label, approver, beforeChange: place.beforeChange, open: openIn }, signal);
}

function builtInTools(registry: ToolRegistry): AnyTool[] {
  return registry.entries().flatMap(({ source, tool }) => (source === builtIn ? [tool] : []));
}

/** Opens an agent for a task of `parent`, with its own history and at most the rights of the parent. */
async function openSubagent(
  lathe: AgentHost,
  place: Place,
  parent: Agent,
  definition: SubagentDefinition & Pick<Place, 'parentSpan'>,
  signal: AbortSignal,
): Promise<Agent> {
  const { settings, hooks } = lathe;
  const { name, instructions = basicInstructions } = definition;
  const depth = place.depth + 1;
  const named = definition.model;
  const model =
    named === undefined ? parent.model : await lathe.sideModels.use(() => subagentModel(lathe, named, signal));
  return open(lathe, {
    model,
    ...(place.sideModel && { sideModel: place.sideModel }),
    ...(parent.effort !== undefined && { effort: parent.effort }),
    ...(place.beforeChange && { beforeChange: place.beforeChange }),
    ...(place.beforeCall && { beforeCall: place.beforeCall }),
    instructions: `${instructions}\n\n${reportInstructions}`,
    name,
    parentSpan: definition.parentSpan,
    approver: onBehalfOf(definition.label ?? name, place.approver),
    budgets: smallerBudgets(taskBudgets(settings), parent.budgetLeft),
    depth,
    registry: subagentTools(place.registry, definition, {
      mayDelegate: depth < settings.agents.maxDepth,
      own: lathe.openOwnTools(),
    }),
    context: openContextFiles(lathe),
    remark: 'Report what you find.',
    ...(hooks && { hooks: subagentHooks(hooks) }),
  });
}

async function subagentModel({ settings, loaded, home }: AgentHost, name: string, signal: AbortSignal): Promise<Model> {
  try {
    return await openSideModel(name, { settings, env: loaded.env, home: home.path }, signal);
  } catch (cause) {
    if (!(cause instanceof ModelError)) throw cause;
    const message = `The model ${name} of this subagent cannot be used: ${cause.message}`;
    throw new ToolError('execution_failed', message, { cause });
  }
}

/** Adds to each question which subagent asks. */
function onBehalfOf(name: string, approver: Approver): Approver {
  return {
    decide(request, signal) {
      const warnings = [`The subagent ${name} asks.`, ...(request.confirmation.warnings ?? [])];
      return approver.decide({ ...request, confirmation: { ...request.confirmation, warnings } }, signal);
    },
  };
}

function subagentHooks(hooks: Hooks): PromptHooks {
  return {
    // The prompt comes from a model, not from a person.
    promptSubmit: async () => ({ notices: [] }),
    stop: (state, signal) => hooks.subagentStop(state, signal),
    preCompact: (trigger, signal) => hooks.preCompact(trigger, signal),
  };
}

/** Opens the context files of the person and the project. */
export function openContextFiles({ workspace, settings, home, userHome, loaded }: ContextHost): ContextSource {
  return new ContextFiles({
    names: settings.context.fileName,
    workspace,
    personalFolders: personalFolders({ home, userHome, settings }),
    userHome,
    isTrusted: loaded.isTrusted,
  });
}

/** Runs Notification hooks when a person has to decide. */
function withNotification(approver: Approver, hooks: Hooks): Approver {
  return {
    decide(request, signal) {
      hooks.notification(`Lathe needs your permission to use ${request.displayName}`, signal).catch(() => undefined);
      return approver.decide(request, signal);
    },
  };
}
