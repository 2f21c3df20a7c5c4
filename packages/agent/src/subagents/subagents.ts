import { CallSlot, type ToolCall, ToolError } from '@lathe/core';
import type { Spill } from '@lathe/core/host';
import type { FinishedTask, Task, TaskRunner } from '@lathe/core/tools';
import type { Agent } from '../loop/agent.js';
import type { AgentEvent } from '../loop/agent-event.js';
import { spentIn } from '../loop/run-calls.js';
import { BackgroundTasks } from './background-tasks.js';
import { ConcurrencyLimit } from './concurrency-limit.js';
import type { SubagentDefinition } from './subagent-definition.js';
import { TaskProgress } from './task-progress.js';

/** An agent whose calls may start subagents. */
export interface ParentAgent {
  /** 0 for the agent that talks with the person. */
  readonly depth: number;
  readonly agent: Pick<Agent, 'budgetLeft' | 'charge' | 'inbox'>;
  /** Opens an agent for a call, with at most the rights of this one. */
  open(definition: SubagentDefinition, signal: AbortSignal, call: ToolCall): Promise<OpenedSubagent>;
}

/** A subagent, and what is to be done when it has ended. */
export interface OpenedSubagent {
  agent: Agent;
  /** Brings back what it did in a worktree. Returns what to add to its report. */
  bringBack?(problem: string | undefined, signal: AbortSignal): Promise<string>;
  /** Removes its worktree. */
  close?(): Promise<void>;
}

export interface SubagentLimits {
  depth: number;
  /** How many run at once, on each level. */
  parallel: number;
}

/** The agent that a call belongs to. Every agent sets it on its calls, so that `task` knows its parent. */
export const parentAgent = new CallSlot<ParentAgent>();

interface Assignment {
  task: Task;
  definition: SubagentDefinition;
  parent: ParentAgent;
  concurrency: ConcurrencyLimit;
  call: ToolCall;
}

/** The subagents of all agents of one session. */
export class Subagents implements TaskRunner {
  readonly background: BackgroundTasks;
  readonly #definitions: ReadonlyMap<string, SubagentDefinition>;
  readonly #limits: SubagentLimits;
  /** One for each depth: an agent that waits for its subagents must not occupy a place that they need. */
  readonly #concurrency: ConcurrencyLimit[];

  constructor(definitions: readonly SubagentDefinition[], limits: SubagentLimits, spill: Spill) {
    this.background = new BackgroundTasks(spill);
    this.#definitions = new Map(definitions.map((definition) => [definition.name, definition]));
    this.#limits = limits;
    this.#concurrency = Array.from({ length: limits.depth }, () => new ConcurrencyLimit(limits.parallel));
  }

  list(): readonly SubagentDefinition[] {
    return [...this.#definitions.values()];
  }

  async run(task: Task, signal: AbortSignal, call: ToolCall): Promise<FinishedTask> {
    const assignment = this.#assign(task, call);
    const progress = new TaskProgress(task);
    if (task.background === true) return this.#startInBackground(assignment, progress);
    call.output(progress.display());
    const onEvent = (event: AgentEvent, isNew: boolean) => {
      call.report(event);
      if (isNew) call.output(progress.display());
    };
    return assignment.concurrency.run(signal, () => work(assignment, { progress, onEvent }, signal, this.background));
  }

  #assign(task: Task, call: ToolCall): Assignment {
    const parent = parentAgent.get(call);
    if (!parent)
      throw new ToolError(
        'execution_failed',
        'A task needs an agent with a model: start it from an agent, not directly.',
      );
    const found = this.#definitions.get(task.subagent_type);
    if (!found) {
      const names = [...this.#definitions.keys()].join(', ');
      throw new ToolError('invalid_tool_params', `There is no subagent of that name, only ${names}.`);
    }
    const concurrency = this.#concurrency[parent.depth];
    if (!concurrency)
      throw new ToolError(
        'execution_denied',
        `Subagents may nest ${this.#limits.depth} deep and no deeper: do it yourself.`,
      );
    const definition = task.isolation === undefined ? found : { ...found, isolation: task.isolation };
    return { task, definition, parent, concurrency, call };
  }

  #startInBackground(assignment: Assignment, progress: TaskProgress): FinishedTask {
    const { task, parent, definition, concurrency } = assignment;
    const id = this.background.start(task, parent.agent.inbox, (own) => {
      const onEvent = (event: AgentEvent) => {
        own.onEvent(event);
        const spent = spentIn(event);
        if (spent) parent.agent.charge(spent);
        const { tokens, cost } = parent.agent.budgetLeft;
        if (spent && (tokens === 0 || cost === 0)) throw new Error('the limit of the session is reached');
      };
      const named = { ...assignment, definition: { ...definition, label: `${definition.name} (${own.id})` } };
      const watch = { progress, onEvent, onOpen: own.onOpen };
      return concurrency.run(own.signal, () => work(named, watch, own.signal, this.background));
    });
    return { display: progress.display(), id };
  }
}

interface Watch {
  progress: TaskProgress;
  onEvent: (event: AgentEvent, isNew: boolean) => void;
  onOpen?: (agent: Agent) => void;
}

async function work(
  { task, definition, parent, call }: Assignment,
  { progress, onEvent, onOpen }: Watch,
  signal: AbortSignal,
  background: BackgroundTasks,
): Promise<FinishedTask> {
  const opened = await parent.open(definition, signal, call);
  const { agent } = opened;
  try {
    onOpen?.(agent);
    for await (const event of agent.prompt(task.prompt, signal)) onEvent(event, progress.add(event));
    const finished = progress.finished();
    const note = await opened.bringBack?.(finished.problem, signal);
    return { ...finished, ...(note !== undefined && { note }) };
  } finally {
    await background.stopAll(agent.inbox);
    await opened.close?.();
  }
}
