import { BaseTool, type ToolCall, type ToolResult } from '@lathe/core';
import { directCall } from '@lathe/core/host';
import type { XStatic } from 'typebox/schema';

const schema = {
  type: 'object',
  properties: {
    action: { type: 'string', enum: ['list', 'send', 'stop'] },
    id: { type: 'string' },
    message: { type: 'string' },
  },
  required: ['action'],
  additionalProperties: false,
} as const;

/** What to do with background tasks. */
export type TaskControl = XStatic<typeof schema>;

/** What the tool needs of subagents. */
export interface TaskController {
  /** Lists the background tasks of the caller, sends one of them a message, or stops one. Returns what to say. */
  control(request: TaskControl, call: ToolCall): Promise<string>;
}

/** `task_control`: what an agent can do with the tasks that it started in the background. */
export class TaskControlTool extends BaseTool<TaskControl> {
  static readonly toolName = 'task_control';
  readonly #subagents: TaskController;

  constructor(subagents: TaskController) {
    super({
      name: TaskControlTool.toolName,
      displayName: 'TaskControl',
      description: 'Lists background tasks, sends one a message, or stops it.',
      kind: 'agent',
      parameterSchema: schema,
    });
    this.#subagents = subagents;
  }

  override getDescription({ action, id = '' }: TaskControl): string {
    return action === 'list' ? 'List background tasks' : `${action === 'send' ? 'Message' : 'Stop'} ${id}`;
  }

  /** It reaches only tasks of its own caller, whose every call is judged. */
  override isReadOnly(): boolean {
    return true;
  }

  protected override validateToolParamValues({ action, id, message }: TaskControl): string | null {
    if (action !== 'list' && !id) return `${action} needs the id of a task`;
    return action === 'send' && !message ? 'send needs a message' : null;
  }

  async execute(params: TaskControl, _signal: AbortSignal, call = directCall()): Promise<ToolResult> {
    const text = await this.#subagents.control(params, call);
    return { llmContent: text, returnDisplay: text };
  }
}
