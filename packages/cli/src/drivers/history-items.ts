import { askedText, type Message } from '@lathe/agent';
import { type FunctionCall, type ToolRegistry, textOf } from '@lathe/core';
import { visibleText } from '@lathe/core/host';
import type { HistoryItem } from '../render/history-item.js';

/** Only the end of a long conversation is shown. */
const maxMessages = 60;

/** A conversation as it looks in the scrollback: prompts, answers, and the title of each call. */
export function historyItems(
  messages: readonly Message[],
  tools: Pick<ToolRegistry, 'getTool'>,
): readonly HistoryItem[] {
  if (messages.length === 0) return [];
  const shown = messages.slice(-maxMessages);
  const earlier = messages.length - shown.length;
  const resumed = `Resumed a conversation of ${messages.length} messages.`;
  const text = earlier > 0 ? `${resumed} The first ${earlier} are not shown.` : resumed;
  const errors = failedCalls(messages);
  return [
    { type: 'notice', level: 'info', text },
    ...shown.flatMap((message): HistoryItem[] => {
      const asked = askedText(message);
      if (message.role !== 'model') return asked === '' ? [] : [{ type: 'prompt', text: visibleText(asked) }];
      const answer = textOf(message.parts.filter(({ thought }) => !thought)).trim();
      const calls = message.parts.flatMap(({ functionCall }) => functionCall ?? []);
      return [
        ...(answer === '' ? [] : [{ type: 'answer' as const, text: visibleText(answer) }]),
        ...calls.map((call) => callItem(call, errors.has(call.id ?? ''), tools)),
      ];
    }),
  ];
}

function failedCalls(messages: readonly Message[]): ReadonlySet<string> {
  const responses = messages.flatMap(({ parts }) => parts.flatMap(({ functionResponse }) => functionResponse ?? []));
  return new Set(responses.filter(({ response }) => response?.['error'] !== undefined).map(({ id = '' }) => id));
}

function callItem(call: FunctionCall, hasFailed: boolean, tools: Pick<ToolRegistry, 'getTool'>): HistoryItem {
  const { id = '', name = '' } = call;
  const status = hasFailed ? 'error' : 'success';
  const description = visibleText(describeCall(call, tools));
  return { type: 'call', call: { callId: id, name: visibleText(name), description, status, startedAt: 0 } };
}

/** What the call did, if its tool still exists and takes the same parameters. */
export function describeCall({ name = '', args = {} }: FunctionCall, tools: Pick<ToolRegistry, 'getTool'>): string {
  const tool = tools.getTool(name);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the tool has just checked them
  return tool?.validateToolParams(args) === null ? tool.getDescription(args as never) : '';
}
