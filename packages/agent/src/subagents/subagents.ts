import { CallSlot, type ToolCall, ToolError } from '@lathe/core';
import { type FinishedTask, type Task, type TaskRunner } from '@lathe/core/tools';
import type { Agent } from '../loop/agent.js';
import { Slots } from './slots.js';
import type { SubagentDefinition } from './subagent-definition.js';
import { TaskProgress } from './task-progress.js';

/** An agent whose calls may start subagents. */
export interface ParentAgent {
  /** 0 for the agent that talks with the person. */
  readonly depth: number;
  /** Opens an agent with at most the rights of this one. */
  open(definition: SubagentDefinition, signal: AbortSignal): Promise<Agent>;
}

export interface SubagentLimits {
  depth: number;
  /** At work at once, on each level. */
  parallel: number;
}

/** The agent that a call belongs to: every agent puts itself into its calls, so that `task` knows who asks. */
export const parentAgent = new CallSlot<ParentAgent>();

/** The subagents of all agents of one session. */
export class Subagents implements TaskRunner {
  readonly #definitions: ReadonlyMap<string, SubagentDefinition>;
  readonly #limits: SubagentLimits;
  /** One set for each depth: an agent that waits for its subagents never waits for a place it holds itself. */
  readonly #slots: Slots[];

  constructor(definitions: readonly SubagentDefinition[], limits: SubagentLimits) {
    this.#definitions = new Map(definitions.map((definition) => [definition.name, definition]));
    this.#limits = limits;
    this.#slots = Array.from({ length: limits.depth }, () => new Slots(limits.parallel));
  }

  list(): readonly SubagentDefinition[] {
    return [...this.#definitions.values()];
  }

  async run(task: Task, signal: AbortSignal, call: ToolCall): Promise<FinishedTask> {
    const parent = parentAgent.get(call);
    if (!parent)
      throw new ToolError('execution_failed', 'A task needs a model at work: start it from an agent, not directly.');
    const definition = this.#definitions.get(task.subagent_type);
    if (!definition)
      throw new ToolError('invalid_tool_params', `There is no subagent of that name, only ${this.#names()}.`);
    const slots = this.#slots[parent.depth];
    if (!slots)
      throw new ToolError('execution_denied', `Subagents go ${this.#limits.depth} deep and no deeper: do it yourself.`);
    const progress = new TaskProgress(task);
    call.output(progress.display());
    return slots.use(signal, async () => {
      const agent = await parent.open(definition, signal);
      for await (const event of agent.prompt(task.prompt, signal)) {
        call.report(event);
        if (progress.add(event)) call.output(progress.display());
      }
      signal.throwIfAborted();
      return progress.finished();
    });
  }

  /** The kinds there are, for people. */
  get definitions(): readonly SubagentDefinition[] {
    return [...this.#definitions.values()];
  }

  #names(): string {
    return [...this.#definitions.keys()].join(', ');
  }
}
