import { CallSlot, type ToolCall, ToolError } from '@lathe/core';
import { type FinishedTask, type Task, type TaskRunner } from '@lathe/core/tools';
import type { Agent } from '../loop/agent.js';
import { ConcurrencyLimit } from './concurrency-limit.js';
import type { SubagentDefinition } from './subagent-definition.js';
import { TaskProgress } from './task-progress.js';

/** An agent whose calls may start subagents. */
export interface ParentAgent {
  /** 0 for the agent that talks with the person. */
  readonly depth: number;
  /** Opens an agent for a call, with at most the rights of this one. */
  open(definition: SubagentDefinition, signal: AbortSignal, call: ToolCall): Promise<Agent>;
}

export interface SubagentLimits {
  depth: number;
  /** How many run at once, on each level. */
  parallel: number;
}

/** The agent that a call belongs to. Every agent sets it on its calls, so that `task` knows its parent. */
export const parentAgent = new CallSlot<ParentAgent>();

/** The subagents of all agents of one session. */
export class Subagents implements TaskRunner {
  readonly #definitions: ReadonlyMap<string, SubagentDefinition>;
  readonly #limits: SubagentLimits;
  /** One for each depth: an agent that waits for its subagents must not occupy a place that they need. */
  readonly #concurrency: ConcurrencyLimit[];

  constructor(definitions: readonly SubagentDefinition[], limits: SubagentLimits) {
    this.#definitions = new Map(definitions.map((definition) => [definition.name, definition]));
    this.#limits = limits;
    this.#concurrency = Array.from({ length: limits.depth }, () => new ConcurrencyLimit(limits.parallel));
  }

  list(): readonly SubagentDefinition[] {
    return [...this.#definitions.values()];
  }

  async run(task: Task, signal: AbortSignal, call: ToolCall): Promise<FinishedTask> {
    const parent = parentAgent.get(call);
    if (!parent)
      throw new ToolError(
        'execution_failed',
        'A task needs an agent with a model: start it from an agent, not directly.',
      );
    const definition = this.#definitions.get(task.subagent_type);
    if (!definition) {
      const names = [...this.#definitions.keys()].join(', ');
      throw new ToolError('invalid_tool_params', `There is no subagent of that name, only ${names}.`);
    }
    const concurrency = this.#concurrency[parent.depth];
    if (!concurrency)
      throw new ToolError(
        'execution_denied',
        `Subagents may nest ${this.#limits.depth} deep and no deeper: do it yourself.`,
      );
    const progress = new TaskProgress(task);
    call.output(progress.display());
    return concurrency.run(signal, async () => {
      const agent = await parent.open(definition, signal, call);
      for await (const event of agent.prompt(task.prompt, signal)) {
        call.report(event);
        if (progress.add(event)) call.output(progress.display());
      }
      signal.throwIfAborted();
      return progress.finished();
    });
  }
}
