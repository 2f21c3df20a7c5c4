import type { SessionUpdate } from '@agentclientprotocol/sdk';
import { type AgentLathe, askedText, type Message } from '@lathe/agent';
import { responseText } from '@lathe/core/host';
import { describeCall } from '../drivers/history-items.js';
import { textBlock } from './session-client.js';
import { callHead, fencedContent } from './tool-call-content.js';

/** A conversation as the updates that an editor would have got while it happened. */
export function* replayHistory(
  messages: readonly Message[],
  lathe: Pick<AgentLathe, 'tools' | 'workspace'>,
): Generator<SessionUpdate> {
  const found = messages.flatMap(({ parts }) => parts.flatMap(({ functionResponse }) => functionResponse ?? []));
  const responses = new Map(found.map((response) => [response.id, response]));
  for (const message of messages) {
    const asked = askedText(message);
    if (asked !== '') yield { sessionUpdate: 'user_message_chunk', content: textBlock(asked) };
    for (const { text, thought, functionCall } of message.role === 'model' ? message.parts : []) {
      if (text)
        yield { sessionUpdate: thought ? 'agent_thought_chunk' : 'agent_message_chunk', content: textBlock(text) };
      if (!functionCall) continue;
      const { id: toolCallId = '', name = '', args = {} } = functionCall;
      const response = responses.get(toolCallId) ?? { response: { error: '' } };
      const head = callHead(lathe, { name, description: describeCall(functionCall, lathe.tools), args });
      const content = fencedContent(responseText(response));
      const status = response.response?.['error'] === undefined ? 'completed' : 'failed';
      yield { sessionUpdate: 'tool_call', toolCallId, ...head, status, rawInput: args, content };
    }
  }
}
