import type { SessionUpdate, ToolCallUpdate } from '@agentclientprotocol/sdk';
import type { AgentEvent, AgentLathe } from '@lathe/agent';
import { type CallOutcome, textOf } from '@lathe/core';
import { visibleText } from '@lathe/core/host';
import type { SessionClient } from './session-client.js';
import { callHead, displayContent, fencedContent } from './tool-call-content.js';

type CallEvent<T extends AgentEvent['type']> = Extract<AgentEvent, { type: T }>;

/** Shows an editor what an agent does. */
export class EventUpdates {
  readonly #client: SessionClient;
  readonly #lathe: Pick<AgentLathe, 'tools' | 'workspace'>;
  /** Calls that the editor knows. */
  readonly #calls = new Set<string>();

  constructor(client: SessionClient, lathe: Pick<AgentLathe, 'tools' | 'workspace'>) {
    this.#client = client;
    this.#lathe = lathe;
  }

  async send(event: AgentEvent): Promise<void> {
    switch (event.type) {
      case 'text-delta':
        return this.#client.say(event.text);
      case 'reasoning-delta':
        return this.#client.update(thought(event.text));
      case 'call-update':
        return this.#callUpdate(event);
      case 'call-output':
        return this.#change({ toolCallId: event.callId, content: displayContent(event.display) });
      case 'call-end':
        return this.#callEnd(event.outcome);
      case 'usage':
        return this.#client.update(usageOf(event));
      case 'notice':
        return this.#client.note(event.level, event.message);
      case 'retry':
        return event.delayMs > 0
          ? this.#client.note('warning', `${event.reason} Retrying in ${Math.ceil(event.delayMs / 1000)} s.`)
          : undefined;
      case 'compaction-end': {
        const { tokensBefore, tokensAfter } = event.compaction;
        return this.#client.note('info', `Compacted the conversation: ${tokensBefore} to ${tokensAfter} tokens.`);
      }
      // The call that started a subagent shows its work.
      case 'subagent-event':
      case 'prompt-start':
      case 'turn-start':
      case 'message-add':
      case 'compaction-start':
      case 'prompt-end':
        return undefined;
    }
  }

  async #callUpdate({ callId, name, status, description, args }: CallEvent<'call-update'>): Promise<void> {
    const shown = status === 'executing' ? ('in_progress' as const) : ('pending' as const);
    if (this.#calls.has(callId)) return this.#change({ toolCallId: callId, status: shown });
    this.#calls.add(callId);
    const head = callHead(this.#lathe, { name, description, args });
    return this.#client.update({
      sessionUpdate: 'tool_call',
      toolCallId: callId,
      ...head,
      status: shown,
      rawInput: args,
    });
  }

  async #callEnd(outcome: CallOutcome): Promise<void> {
    const { callId: toolCallId, returnDisplay, status } = outcome;
    const content = resultContent(outcome);
    await this.#change({
      toolCallId,
      status: status === 'success' ? 'completed' : 'failed',
      ...(content.length > 0 && { content }),
    });
    if (typeof returnDisplay === 'string' || returnDisplay.type !== 'todo_list') return;
    const entries = returnDisplay.todos.map((todo) => ({
      content: visibleText(todo.content),
      status: todo.status,
      priority: 'medium' as const,
    }));
    await this.#client.update({ sessionUpdate: 'plan', entries });
  }

  #change(update: ToolCallUpdate): Promise<void> {
    return this.#client.update({ sessionUpdate: 'tool_call_update', ...update });
  }
}

/** Where a person sees nothing, the model still got something. */
function resultContent({ returnDisplay, llmContent, error }: CallOutcome) {
  const shown = displayContent(returnDisplay);
  if (shown.length > 0 || typeof returnDisplay !== 'string') return shown;
  return fencedContent(error?.message ?? textOf(llmContent));
}

function thought(text: string): SessionUpdate {
  return { sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: visibleText(text) } };
}

function usageOf({ usage }: CallEvent<'usage'>): SessionUpdate {
  const { contextTokens: used, contextWindow: size, sessionCost } = usage;
  const cost = sessionCost === undefined ? {} : { cost: { amount: sessionCost / 100, currency: 'USD' } };
  return { sessionUpdate: 'usage_update', used, size, ...cost };
}
