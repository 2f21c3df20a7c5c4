import type { TaskExecution } from '../contract/display.js';
import { directCall, type ToolCall } from '../contract/tool-call.js';
import { BaseTool, type ToolResult } from './tools.js';

/** What the tool needs of subagents; the composition root supplies them. */
export interface TaskRunner {
  /** Those that are installed; the order does not change. */
  list(): readonly { name: string; description: string }[];
  /**
   * Works on the task to its end, or starts it in the background. `call` tells whose task it is, and shows its progress.
   */
  run(task: Task, signal: AbortSignal, call: ToolCall): Promise<FinishedTask>;
}

/** The parameters; stated here and in the schema, whose list of names is known only at run time. */
export interface Task {
  description: string;
  prompt: string;
  subagent_type: string;
  background?: boolean;
  isolation?: 'worktree';
}

/** What became of a task. */
export interface FinishedTask {
  display: TaskExecution;
  /** Why it ended early; left out when the subagent had its answer. */
  problem?: string;
  /** Follows the report: what became of the changes in a worktree. */
  note?: string;
  /** The id of a task that works in the background, and has no result yet. */
  id?: string;
}

/** Longer ones would cost every request more than they explain. */
const maxDescription = 160;

function schemaFor(names: readonly string[]) {
  return {
    type: 'object',
    properties: {
      description: { type: 'string', minLength: 1, description: '3 to 5 words' },
      prompt: { type: 'string', minLength: 1, description: 'All it must know, and what to report' },
      subagent_type: { type: 'string', enum: names },
      background: { type: 'boolean', description: 'Go on at once; the report comes as a message' },
      isolation: { type: 'string', enum: ['worktree'], description: 'Works in a copy; changes come back as one diff' },
    },
    required: ['description', 'prompt', 'subagent_type'],
    additionalProperties: false,
  } as const;
}

/** `task`: hands work to a subagent with a history of its own and at most the rights of the agent that asks. */
export class TaskTool extends BaseTool<Task> {
  static readonly toolName = 'task';
  readonly #subagents: TaskRunner;

  constructor(subagents: TaskRunner) {
    const installed = subagents.list();
    super({
      name: TaskTool.toolName,
      displayName: 'Task',
      description: `A subagent does a task on its own: it sees only the prompt and returns one report. Calls in one turn run in parallel.\n${installed.map(line).join('\n')}`,
      kind: 'agent',
      parameterSchema: schemaFor(installed.map(({ name }) => name)),
      // Subagents have limits of their own, which do not count the time they wait for others.
      timeoutMs: Number.POSITIVE_INFINITY,
    });
    this.#subagents = subagents;
  }

  override getDescription({ subagent_type, description }: Task): string {
    return `${subagent_type}: ${description}`;
  }

  /** The call itself changes nothing, and each call of the subagent is judged like any other. */
  override isReadOnly(): boolean {
    return true;
  }

  async execute(params: Task, signal: AbortSignal, call = directCall()): Promise<ToolResult> {
    const { display, problem, note = '', id } = await this.#subagents.run(params, signal, call);
    if (id !== undefined) {
      const started = `Started ${id} in the background. Its report comes as a message: do not wait or ask for it. task_control lists, messages and stops tasks.`;
      return { llmContent: started, returnDisplay: `Works in the background as ${id}.` };
    }
    const report = `${display.result || '(no report)'}${note === '' ? '' : `\n\n${note}`}`;
    if (problem === undefined) return { llmContent: report, returnDisplay: display };
    const message = `The subagent did not finish: ${problem}`;
    return {
      llmContent: `${message}\nIts last words:\n${report}`,
      returnDisplay: display,
      error: { type: 'execution_failed', message },
    };
  }
}

function line({ name, description }: { name: string; description: string }): string {
  const flat = description.replace(/\s+/g, ' ').trim();
  return `- ${name}: ${flat.length > maxDescription ? `${flat.slice(0, maxDescription - 1)}…` : flat}`;
}
