import type { SessionUpdate } from '@agentclientprotocol/sdk';
import { type AgentLathe, askedText, type Message } from '@lathe/agent';
import type { FunctionCall, FunctionResponse } from '@lathe/core';
import { responseText, visibleText } from '@lathe/core/host';
import { callHead, fencedContent } from './tool-call-content.js';

/** A conversation as the updates that an editor got, or would have got, while it happened. */
export function* replayHistory(
  messages: readonly Message[],
  lathe: Pick<AgentLathe, 'tools' | 'workspace'>,
): Generator<SessionUpdate> {
  const responses = new Map(
    messages.flatMap(({ parts }) =>
      parts.flatMap(({ functionResponse }) =>
        functionResponse ? [[functionResponse.id ?? '', functionResponse]] : [],
      ),
    ),
  );
  for (const message of messages) {
    const asked = askedText(message);
    if (asked !== '') yield chunk('user_message_chunk', asked);
    if (message.role !== 'model') continue;
    for (const { text, thought, functionCall } of message.parts) {
      if (functionCall) yield replayCall(functionCall, responses.get(functionCall.id ?? ''), lathe);
      else if (text) yield chunk(thought ? 'agent_thought_chunk' : 'agent_message_chunk', text);
    }
  }
}

function replayCall(
  { id = '', name = '', args = {} }: FunctionCall,
  response: FunctionResponse | undefined,
  lathe: Pick<AgentLathe, 'tools' | 'workspace'>,
): SessionUpdate {
  const tool = lathe.tools.getTool(name);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the tool has just checked them
  const description = tool?.validateToolParams(args) === null ? tool.getDescription(args as never) : '';
  const hasFailed = !response || response.response?.['error'] !== undefined;
  return {
    sessionUpdate: 'tool_call',
    toolCallId: id,
    ...callHead(lathe, { name, description, args }),
    status: hasFailed ? 'failed' : 'completed',
    rawInput: args,
    content: response ? fencedContent(responseText(response)) : [],
  };
}

function chunk(
  sessionUpdate: 'user_message_chunk' | 'agent_message_chunk' | 'agent_thought_chunk',
  text: string,
): SessionUpdate {
  return { sessionUpdate, content: { type: 'text', text: visibleText(text) } };
}
