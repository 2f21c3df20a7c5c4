import type { SessionUpdate } from '@agentclientprotocol/sdk';
import type { AgentEvent, AgentLathe } from '@lathe/agent';
import { type CallOutcome, textOf } from '@lathe/core';
import { visibleText } from '@lathe/core/host';
import { type SessionClient, textBlock } from './session-client.js';
import { callHead, displayContent, fencedContent } from './tool-call-content.js';

type EventOf<T extends AgentEvent['type']> = Extract<AgentEvent, { type: T }>;

/** Shows an editor what an agent does. */
export class EventUpdates {
  readonly #client: SessionClient;
  readonly #lathe: Pick<AgentLathe, 'tools' | 'workspace'>;
  /** What the editor knows of each call that has not ended. */
  readonly #calls = new Map<string, string>();

  constructor(client: SessionClient, lathe: Pick<AgentLathe, 'tools' | 'workspace'>) {
    this.#client = client;
    this.#lathe = lathe;
  }

  async send(event: AgentEvent): Promise<void> {
    const client = this.#client;
    switch (event.type) {
      case 'text-delta':
        return client.say(event.text);
      case 'reasoning-delta':
        return client.update({ sessionUpdate: 'agent_thought_chunk', content: textBlock(event.text) });
      case 'call-update':
        return this.#callUpdate(event);
      case 'call-output': {
        const content = displayContent(event.display);
        return client.update({ sessionUpdate: 'tool_call_update', toolCallId: event.callId, content });
      }
      case 'call-end':
        return this.#callEnd(event.outcome);
      case 'usage':
        return client.update(usageOf(event));
      case 'notice':
        return client.note(event.level, event.message);
      case 'retry': {
        const wait = `Retrying in ${Math.ceil(event.delayMs / 1000)} s.`;
        return event.delayMs > 0 ? client.note('warning', `${event.reason} ${wait}`) : undefined;
      }
      case 'compaction-end': {
        const { tokensBefore, tokensAfter } = event.compaction;
        return client.note('info', `Compacted the conversation: ${tokensBefore} to ${tokensAfter} tokens.`);
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

  async #callUpdate({ callId: toolCallId, name, status, description, args }: EventOf<'call-update'>): Promise<void> {
    // What it is about to do is not known yet.
    if (status === 'validating') return;
    const shown = status === 'executing' ? ('in_progress' as const) : ('pending' as const);
    const known = this.#calls.get(toolCallId);
    const news = `${shown} ${description}`;
    if (known === news) return;
    this.#calls.set(toolCallId, news);
    const head = callHead(this.#lathe, { name, description, args });
    const call = { toolCallId, ...head, status: shown, rawInput: args };
    if (known === undefined) await this.#client.update({ sessionUpdate: 'tool_call', ...call });
    else await this.#client.update({ sessionUpdate: 'tool_call_update', ...call });
  }

  async #callEnd({ callId: toolCallId, returnDisplay, llmContent, error, ...outcome }: CallOutcome): Promise<void> {
    const isText = typeof returnDisplay === 'string';
    const shown = displayContent(returnDisplay);
    // Where a person sees nothing, the model still got something.
    const content = shown.length > 0 || !isText ? shown : fencedContent(error?.message ?? textOf(llmContent));
    const call = {
      toolCallId,
      status: outcome.status === 'success' ? ('completed' as const) : ('failed' as const),
      content,
    };
    if (this.#calls.delete(toolCallId)) await this.#client.update({ sessionUpdate: 'tool_call_update', ...call });
    // A call that was refused before it got anywhere.
    else
      await this.#client.update({
        sessionUpdate: 'tool_call',
        ...callHead(this.#lathe, { ...outcome, args: {} }),
        ...call,
      });
    if (isText || returnDisplay.type !== 'todo_list') return;
    const entries = returnDisplay.todos.map((todo) => ({
      content: visibleText(todo.content),
      status: todo.status,
      priority: 'medium' as const,
    }));
    await this.#client.update({ sessionUpdate: 'plan', entries });
  }
}

function usageOf({ usage }: EventOf<'usage'>): SessionUpdate {
  const { contextTokens: used, contextWindow: size, sessionCost } = usage;
  const cost = sessionCost === undefined ? {} : { cost: { amount: sessionCost / 100, currency: 'USD' } };
  return { sessionUpdate: 'usage_update', used, size, ...cost };
}
