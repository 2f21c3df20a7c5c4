import {
  type CallEvent,
  type FinishedTask,
  type Task,
  type TaskExecution,
  type TaskRunner,
  TaskTool,
  ToolError,
} from '@lathe/core';
import type { Agent } from '../loop/agent.js';
import type { AgentEvent } from '../loop/agent-event.js';
import { Slots } from './slots.js';
import type { SubagentDefinition } from './subagent-definition.js';
import { TaskProgress } from './task-progress.js';

/** An agent whose calls may start subagents. */
export interface ParentAgent {
  /** 0 for the agent that talks with the person. */
  readonly depth: number;
  /** Opens an agent with at most the rights of this one. */
  open(definition: SubagentDefinition, signal: AbortSignal): Promise<Agent>;
  report(event: Extract<AgentEvent, { type: 'subagent-event' }>): void;
}

export interface SubagentLimits {
  depth: number;
  /** At work at once, on each level. */
  parallel: number;
}

/**
 * The subagents of all agents of one session. A call of `task` is known by its parameters: the runner of an agent's
 * calls announces them, so that the tool, which every agent shares, finds out whose call it runs.
 */
export class Subagents implements TaskRunner {
  readonly #definitions: ReadonlyMap<string, SubagentDefinition>;
  readonly #limits: SubagentLimits;
  readonly #calls = new WeakMap<object, { callId: string; parent: ParentAgent }>();
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

  /** Takes note of what happens to the calls of an agent. */
  notice(event: CallEvent, parent: ParentAgent): void {
    if (event.type !== 'call-update' || event.name !== TaskTool.toolName || event.status !== 'executing') return;
    if (typeof event.args === 'object' && event.args !== null)
      this.#calls.set(event.args, { callId: event.callId, parent });
  }

  async run(task: Task, signal: AbortSignal, onProgress: (display: TaskExecution) => void): Promise<FinishedTask> {
    const call = this.#calls.get(task);
    if (!call)
      throw new ToolError('execution_failed', 'A task needs a model at work: start it from an agent, not directly.');
    const { callId, parent } = call;
    const definition = this.#definitions.get(task.subagent_type);
    if (!definition)
      throw new ToolError('invalid_tool_params', `There is no subagent of that name, only ${this.#names()}.`);
    const slots = this.#slots[parent.depth];
    if (!slots)
      throw new ToolError('execution_denied', `Subagents go ${this.#limits.depth} deep and no deeper: do it yourself.`);
    const progress = new TaskProgress(task);
    onProgress(progress.display());
    return slots.use(signal, async () => {
      const agent = await parent.open(definition, signal);
      for await (const event of agent.prompt(task.prompt, signal)) {
        parent.report({ type: 'subagent-event', callId, event });
        if (progress.add(event)) onProgress(progress.display());
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
