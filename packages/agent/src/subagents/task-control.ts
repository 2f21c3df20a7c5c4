import { BaseTool, ToolError, type ToolResult } from '@lathe/core';
import { directCall } from '@lathe/core/host';
import type { XStatic } from 'typebox/schema';
import type { BackgroundTask, BackgroundTasks } from './background-tasks.js';
import { parentAgent } from './subagents.js';

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

type TaskControl = XStatic<typeof schema>;

/** `task_control`: what an agent can do with the tasks that it started in the background. */
export class TaskControlTool extends BaseTool<TaskControl> {
  static readonly toolName = 'task_control';
  readonly #background: BackgroundTasks;

  constructor(background: BackgroundTasks) {
    super({
      name: TaskControlTool.toolName,
      displayName: 'TaskControl',
      description: 'Lists background tasks, sends one a message, or stops it.',
      kind: 'agent',
      parameterSchema: schema,
    });
    this.#background = background;
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
    const inbox = parentAgent.get(call)?.agent.inbox;
    if (!inbox) throw new ToolError('execution_failed', 'Only an agent with a model has background tasks.');
    const { action, id = '', message = '' } = params;
    const answer = {
      list: () => this.#background.list(inbox).map(describe).join('\n') || 'No background tasks.',
      send: () => this.#background.send(id, message, inbox),
      stop: () => this.#background.stop(id, inbox),
    };
    const text = await answer[action]();
    return { llmContent: text, returnDisplay: text };
  }
}

function describe({ id, state, name, description, activity }: BackgroundTask): string {
  return `${id} ${state} (${name}: ${description}) ${activity}`.trimEnd();
}
