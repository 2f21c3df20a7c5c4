import type { AgentEvent, Compaction, PromptEnd } from '@lathe/agent';
import { type CallOutcome, type Display } from '@lathe/core';
import { visibleText } from '@lathe/core/host';
import type { CallView } from '../render/card.js';
import type { HistoryItem } from '../render/history-item.js';
import { answerBlocks } from './answer-blocks.js';

export interface ScreenState {
  items: readonly HistoryItem[];
  /** Streamed text of the model that is not in the scrollback yet. */
  liveText: string;
  /** The part of this answer that is in the scrollback. */
  writtenText: string;
  /** What the model thinks now, and since when. */
  reasoning?: { text: string; since: number };
  /** Sent while the agent works, not delivered yet. */
  waiting: readonly string[];
  /** Calls in progress, in call order. */
  calls: readonly CallView[];
  isBusy: boolean;
  startedAt: number;
  retry?: string;
  /** The todo that is in progress. */
  todo?: string;
  tokens: number;
  cost?: number;
  contextTokens: number;
  contextWindow: number;
}

export const emptyScreen: ScreenState = {
  items: [],
  liveText: '',
  writtenText: '',
  waiting: [],
  calls: [],
  isBusy: false,
  startedAt: 0,
  tokens: 0,
  contextTokens: 0,
  contextWindow: 0,
};

export type ScreenEvent =
  | { type: 'agent'; event: AgentEvent; now: number }
  | { type: 'begin'; prompt: string; now: number }
  | { type: 'add'; item: HistoryItem }
  /** The person sent something during the work, and the model has received it. */
  | { type: 'wait' | 'deliver'; prompt: string }
  /** What waits is not sent any more. */
  | { type: 'drop' }
  | { type: 'end' }
  | { type: 'clear' };

/** The screen after an event. */
export function nextScreen(screen: ScreenState, event: ScreenEvent): ScreenState {
  switch (event.type) {
    case 'begin':
      return add(
        { ...withoutTodo(screen), isBusy: true, startedAt: event.now },
        { type: 'prompt', text: visibleText(event.prompt) },
      );
    case 'wait':
      return { ...screen, waiting: [...screen.waiting, visibleText(event.prompt)] };
    case 'deliver':
      return add(screen, { type: 'prompt', text: visibleText(event.prompt) });
    case 'drop':
      return { ...screen, waiting: [] };
    case 'add':
      return add(screen, event.item);
    case 'end':
      return { ...withoutTodo(withoutRetry(flushAnswer(screen))), isBusy: false, calls: [] };
    case 'clear':
      return { ...emptyScreen, items: screen.items };
    case 'agent':
      return afterAgentEvent(screen, event.event, event.now);
  }
}

function afterAgentEvent(screen: ScreenState, event: AgentEvent, now: number): ScreenState {
  switch (event.type) {
    case 'text-delta':
      return appendText(foldReasoning(withoutRetry(screen), now), event.text);
    case 'reasoning-delta': {
      const { text, since } = screen.reasoning ?? { text: '', since: now };
      return { ...withoutRetry(screen), reasoning: { text: text + visibleText(event.text), since } };
    }
    case 'retry':
      return restartAnswer(screen, visibleText(`${event.reason} Retry ${event.attempt}.`));
    case 'message-add':
      return event.message.role === 'model'
        ? completeAnswer(foldReasoning(screen, now), answerOf(event.message.parts))
        : screen;
    case 'call-update':
      return { ...screen, calls: upsert(screen.calls, callView(event, screen.calls, now)) };
    case 'call-output':
      return {
        ...screen,
        calls: screen.calls.map((call) => (call.callId === event.callId ? { ...call, display: event.display } : call)),
      };
    case 'call-end':
      return endCall(screen, event.outcome, now);
    case 'usage':
      return updateUsage(screen, event.usage);
    case 'compaction-end':
      return add(screen, { type: 'notice', level: 'info', text: compactionText(event.compaction) });
    case 'notice':
      return add(screen, { type: 'notice', level: event.level, text: visibleText(event.message) });
    case 'prompt-end':
      return endPrompt(screen, event.end);
    case 'prompt-start':
    case 'turn-start':
    case 'compaction-start':
    case 'subagent-event':
      return screen;
  }
}

function endPrompt(screen: ScreenState, { reason, message }: PromptEnd): ScreenState {
  if (message === undefined || (reason === 'aborted' && endsWithNo(screen))) return screen;
  const text = visibleText(reason.startsWith('max-') ? `${message} ${limitReached}` : message);
  return add(flushAnswer(screen), { type: 'notice', level: 'warning', text });
}

const limitReached = 'This session accepts no more prompts. Quit and run lathe --continue: it counts from zero.';

function compactionText({ tokensBefore, tokensAfter }: Compaction): string {
  const [before, after] = [tokensBefore, tokensAfter].map((tokens) => tokens.toLocaleString('en'));
  return tokensAfter < tokensBefore
    ? `Compacted the conversation from ${before} to ${after} tokens.`
    : `Could not compact further: ${after} tokens remain.`;
}

/** Complete blocks go to the scrollback; only the last block is redrawn. */
function appendText(screen: ScreenState, text: string): ScreenState {
  const { complete, growing } = answerBlocks(screen.liveText + text);
  const rest = { ...screen, liveText: growing, writtenText: screen.writtenText + complete };
  return complete.trim() === '' ? rest : add(rest, { type: 'answer', text: visibleText(complete) });
}

function restartAnswer(screen: ScreenState, retry: string): ScreenState {
  const rest = { ...withoutReasoning(screen), liveText: '', writtenText: '', retry };
  if (screen.writtenText === '') return rest;
  return add(rest, { type: 'notice', level: 'warning', text: 'The answer above was interrupted and starts again.' });
}

function answerOf(parts: readonly { text?: string; thought?: boolean }[]): string {
  return parts.map((part) => (part.thought ? '' : (part.text ?? ''))).join('');
}

/** The answer is complete. Adds the missing part to the scrollback. */
function completeAnswer(screen: ScreenState, text: string): ScreenState {
  const { writtenText } = screen;
  const missing = text.startsWith(writtenText) ? text.slice(writtenText.length) : text;
  const rest = { ...withoutReasoning(screen), liveText: '', writtenText: '' };
  return missing.trim() === '' ? rest : add(rest, { type: 'answer', text: visibleText(missing) });
}

/** The answer was interrupted. Adds the part that arrived to the scrollback. */
function flushAnswer(screen: ScreenState): ScreenState {
  return completeAnswer(screen, screen.writtenText + screen.liveText);
}

function callView(
  event: Extract<AgentEvent, { type: 'call-update' }>,
  calls: readonly CallView[],
  now: number,
): CallView {
  const known = calls.find(({ callId }) => callId === event.callId);
  return {
    callId: event.callId,
    name: visibleText(event.name),
    description: visibleText(event.description),
    status: event.status,
    // The time starts again with each status, so that the wait for approval does not count.
    startedAt: known && known.status === event.status ? known.startedAt : now,
    ...(known?.display !== undefined && { display: known.display }),
  };
}

function endCall(screen: ScreenState, outcome: CallOutcome, now: number): ScreenState {
  const known = screen.calls.find(({ callId }) => callId === outcome.callId);
  const call: CallView = {
    callId: outcome.callId,
    name: visibleText(outcome.name),
    description: visibleText(outcome.description),
    status: outcome.status,
    startedAt: known?.startedAt ?? now,
    durationMs: ranMs(outcome, known, now),
    ...displayOf(outcome),
  };
  const calls = screen.calls.filter(({ callId }) => callId !== outcome.callId);
  return add(withTodo({ ...screen, calls }, outcome.returnDisplay), { type: 'call', call });
}

/** What a card shows of an outcome. A command that failed shows its output, not the report for the model. */
function displayOf({ status, returnDisplay, error, decision }: CallOutcome): Pick<CallView, 'display' | 'hasThrown'> {
  if (decision?.outcome === 'deny') return { display: answeredNo(decision.message) };
  if (status !== 'error' || error === undefined) return { display: returnDisplay };
  const hasThrown = returnDisplay === '' || returnDisplay === `Error: ${error.message}`;
  return hasThrown ? { display: visibleText(error.message), hasThrown } : { display: returnDisplay };
}

const stoppedByNo = 'You said no, so the turn ended. Say what to do instead.';

function answeredNo(message: string | undefined): string {
  return message === undefined ? stoppedByNo : `You said no: ${message}`;
}

/** The card says why the turn ended. */
function endsWithNo({ items }: ScreenState): boolean {
  return items.some(
    (item, index) => index > items.length - 20 && item.type === 'call' && item.call.display === stoppedByNo,
  );
}

/** The running time without the wait for approval. */
function ranMs({ durationMs }: CallOutcome, known: CallView | undefined, now: number): number {
  if (known?.status === 'awaiting_approval') return 0;
  return known?.status === 'executing' ? Math.min(durationMs, now - known.startedAt) : durationMs;
}

function withTodo(screen: ScreenState, display: Display | undefined): ScreenState {
  if (typeof display !== 'object' || display.type !== 'todo_list') return screen;
  const current = display.todos.find(({ status }) => status === 'in_progress');
  return { ...withoutTodo(screen), ...(current && { todo: visibleText(current.content) }) };
}

/** What the model thought is folded as soon as it does something else. */
function foldReasoning(screen: ScreenState, now: number): ScreenState {
  const { reasoning } = screen;
  if (!reasoning || reasoning.text.trim() === '') return withoutReasoning(screen);
  const seconds = Math.max(1, Math.round((now - reasoning.since) / 1000));
  return add(withoutReasoning(screen), { type: 'reasoning', text: reasoning.text, seconds });
}

function updateUsage(screen: ScreenState, usage: Extract<AgentEvent, { type: 'usage' }>['usage']): ScreenState {
  const { session, sessionCost, contextTokens, contextWindow } = usage;
  return {
    ...screen,
    tokens: session.inputTokens + session.outputTokens,
    ...(sessionCost !== undefined && { cost: sessionCost }),
    contextTokens,
    contextWindow,
  };
}

function upsert(calls: readonly CallView[], call: CallView): CallView[] {
  const isKnown = calls.some(({ callId }) => callId === call.callId);
  return isKnown ? calls.map((known) => (known.callId === call.callId ? call : known)) : [...calls, call];
}

function add(screen: ScreenState, item: HistoryItem): ScreenState {
  const items = [...screen.items, item];
  if (item.type !== 'prompt' || screen.waiting.length === 0) return { ...screen, items };
  const at = screen.waiting.indexOf(item.text);
  return { ...screen, items, waiting: screen.waiting.filter((_, index) => index !== at) };
}

function withoutRetry({ retry: _over, ...screen }: ScreenState): ScreenState {
  return screen;
}

function withoutReasoning({ reasoning: _over, ...screen }: ScreenState): ScreenState {
  return screen;
}

function withoutTodo({ todo: _over, ...screen }: ScreenState): ScreenState {
  return screen;
}
