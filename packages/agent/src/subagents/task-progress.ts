import type { TaskExecution } from '@lathe/core/host';
import type { FinishedTask, Task } from '@lathe/core/tools';
import type { AgentEvent, EndReason, PromptEnd } from '../loop/agent-event.js';

type ShownCall = TaskExecution['toolCalls'][number];

/** A person reads the last few; a subagent may make thousands. */
const maxShownCalls = 100;

/** Builds what a person sees of a subagent from its events. */
export class TaskProgress {
  readonly #task: Task;
  readonly #calls = new Map<string, ShownCall>();
  #end: PromptEnd | undefined;

  constructor(task: Task) {
    this.#task = task;
  }

  /** True when there is something new to see. */
  add(event: AgentEvent): boolean {
    if (event.type === 'call-update') {
      const { callId, name, description, status } = event;
      return this.#show({ callId, name, description, status });
    }
    if (event.type === 'call-end') {
      const { callId, name, status } = event.outcome;
      return this.#show({ callId, name, description: this.#calls.get(callId)?.description ?? name, status });
    }
    if (event.type !== 'prompt-end') return false;
    this.#end = event.end;
    return true;
  }

  display(): TaskExecution {
    const { subagent_type, description, prompt } = this.#task;
    const end = this.#end;
    const [status, terminateReason] = (end && ends[end.reason]) ?? ['failed', 'ERROR'];
    return {
      type: 'task_execution',
      subagentName: subagent_type,
      taskDescription: description,
      taskPrompt: prompt,
      status: end ? status : 'running',
      ...(end && { terminateReason, result: end.text }),
      toolCalls: [...this.#calls.values()],
    };
  }

  finished(): FinishedTask {
    if (!this.#end) throw new Error('the subagent ended without a prompt-end event');
    const { reason, message = reason } = this.#end;
    return { display: this.display(), ...(reason !== 'done' && { problem: message }) };
  }

  #show(call: ShownCall): true {
    this.#calls.set(call.callId, call);
    const [oldest] = this.#calls.keys();
    if (this.#calls.size > maxShownCalls && oldest !== undefined) this.#calls.delete(oldest);
    return true;
  }
}

/** Status, and the words that Qwen Code uses for the reason. */
const ends: Partial<Record<EndReason, [status: TaskExecution['status'], terminateReason: string]>> = {
  done: ['completed', 'GOAL'],
  aborted: ['cancelled', 'CANCELLED'],
  'max-turns': ['failed', 'MAX_TURNS'],
  'max-time': ['failed', 'TIMEOUT'],
};
