import type { AgentEvent, Compaction } from '@lathe/agent';
import { type CallOutcome, type CallStatus, type Display } from '@lathe/core';
import { visibleText } from '@lathe/core/host';
import { answerBlocks } from './answer-blocks.js';

/** One thing in the scrollback. Once there it never changes. All text is inert. */
export type HistoryItem =
  | { type: 'prompt'; text: string }
  | { type: 'answer'; text: string }
  | { type: 'call'; call: CallView; isOpen?: boolean }
  | { type: 'notice'; level: 'info' | 'warning'; text: string }
  /** What a slash command has to say; already rendered. */
  | { type: 'output'; text: string };

/** A tool call on the screen. */
export interface CallView {
  callId: string;
  name: string;
  description: string;
  status: CallStatus;
  startedAt: number;
  durationMs?: number;
  /** What it shows while it runs or after it ended. */
  display?: Display;
  /** Why it failed. */
  error?: string;
}

export interface ScreenState {
  items: readonly HistoryItem[];
  /** What the model is writing now, as it came; whole blocks of it are already in the scrollback. */
  liveText: string;
  /** The blocks of this answer that are already in the scrollback. */
  writtenText: string;
  isThinking: boolean;
  /** Calls that have not ended, in call order. */
  calls: readonly CallView[];
  isBusy: boolean;
  startedAt: number;
  retry?: string;
  /** What the model says it is at. */
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
  isThinking: false,
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
  | { type: 'end' }
  | { type: 'clear' };

/** The screen after an event. */
export function nextScreen(screen: ScreenState, event: ScreenEvent): ScreenState {
  switch (event.type) {
    case 'begin':
      return add(
        { ...screen, isBusy: true, startedAt: event.now },
        { type: 'prompt', text: visibleText(event.prompt) },
      );
    case 'add':
      return add(screen, event.item);
    case 'end':
      return { ...withoutRetry(brokenOff(screen)), isBusy: false, calls: [] };
    case 'clear':
      return emptyScreen;
    case 'agent':
      return afterAgentEvent(screen, event.event, event.now);
  }
}

function afterAgentEvent(screen: ScreenState, event: AgentEvent, now: number): ScreenState {
  switch (event.type) {
    case 'text-delta':
      return written({ ...withoutRetry(screen), isThinking: false }, event.text);
    case 'reasoning-delta':
      return { ...withoutRetry(screen), isThinking: true };
    case 'retry':
      return begunAgain(screen, visibleText(`${event.reason} Trying again (${event.attempt}).`));
    case 'message-add':
      return event.message.role === 'model' ? answered(screen, answerOf(event.message.parts)) : screen;
    case 'call-update':
      return { ...screen, calls: upsert(screen.calls, callView(event, screen.calls, now)) };
    case 'call-output':
      return {
        ...screen,
        calls: screen.calls.map((call) => (call.callId === event.callId ? { ...call, display: event.display } : call)),
      };
    case 'call-end':
      return ended(screen, event.outcome, now);
    case 'usage':
      return used(screen, event.usage);
    case 'compaction-end':
      return add(screen, { type: 'notice', level: 'info', text: compactionText(event.compaction) });
    case 'notice':
      return add(screen, { type: 'notice', level: event.level, text: visibleText(event.message) });
    case 'prompt-end':
      return event.end.message === undefined
        ? screen
        : add(brokenOff(screen), { type: 'notice', level: 'warning', text: visibleText(event.end.message) });
    case 'prompt-start':
    case 'turn-start':
    case 'compaction-start':
    case 'subagent-event':
      return screen;
  }
}

function compactionText({ tokensBefore, tokensAfter }: Compaction): string {
  return tokensAfter < tokensBefore
    ? `History shortened from ${tokensBefore} to ${tokensAfter} tokens.`
    : `History left at ${tokensAfter} tokens: it could not be made shorter.`;
}

/** Whole blocks go to the scrollback as they come; only the last one is redrawn. */
function written(screen: ScreenState, text: string): ScreenState {
  const { whole, growing } = answerBlocks(screen.liveText + text);
  const rest = { ...screen, liveText: growing, writtenText: screen.writtenText + whole };
  return whole.trim() === '' ? rest : add(rest, { type: 'answer', text: visibleText(whole) });
}

function begunAgain(screen: ScreenState, retry: string): ScreenState {
  const rest = { ...screen, liveText: '', writtenText: '', retry };
  if (screen.writtenText === '') return rest;
  return add(rest, { type: 'notice', level: 'warning', text: 'The answer above broke off and begins again.' });
}

function answerOf(parts: readonly { text?: string; thought?: boolean }[]): string {
  return parts.map((part) => (part.thought ? '' : (part.text ?? ''))).join('');
}

/** The answer is complete: what of it is not in the scrollback yet goes there. */
function answered(screen: ScreenState, text: string): ScreenState {
  const { writtenText } = screen;
  const left = text.startsWith(writtenText) ? text.slice(writtenText.length) : text;
  const rest = { ...screen, liveText: '', writtenText: '', isThinking: false };
  return left.trim() === '' ? rest : add(rest, { type: 'answer', text: visibleText(left) });
}

/** No more of the answer comes: what there is of it goes to the scrollback. */
function brokenOff(screen: ScreenState): ScreenState {
  return answered(screen, screen.writtenText + screen.liveText);
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
    // Its time begins when it runs: how long a person thinks about it is not its own.
    startedAt: known && known.status === event.status ? known.startedAt : now,
    ...(known?.display !== undefined && { display: known.display }),
  };
}

function ended(screen: ScreenState, outcome: CallOutcome, now: number): ScreenState {
  const known = screen.calls.find(({ callId }) => callId === outcome.callId);
  const call: CallView = {
    callId: outcome.callId,
    name: visibleText(outcome.name),
    description: known?.description ?? visibleText(outcome.name),
    status: outcome.status,
    startedAt: known?.startedAt ?? now,
    durationMs: ranMs(outcome, known, now),
    display: outcome.returnDisplay,
    ...(outcome.error && { error: visibleText(outcome.error.message) }),
  };
  const calls = screen.calls.filter(({ callId }) => callId !== outcome.callId);
  return add(withTodo({ ...screen, calls }, outcome.returnDisplay), { type: 'call', call });
}

/** Without the wait for approval. */
function ranMs({ durationMs }: CallOutcome, known: CallView | undefined, now: number): number {
  if (known?.status === 'awaiting_approval') return 0;
  return known?.status === 'executing' ? Math.min(durationMs, now - known.startedAt) : durationMs;
}

function withTodo(screen: ScreenState, display: Display | undefined): ScreenState {
  if (typeof display !== 'object' || display.type !== 'todo_list') return screen;
  const { todo: _before, ...rest } = screen;
  const current = display.todos.find(({ status }) => status === 'in_progress');
  return current ? { ...rest, todo: visibleText(current.content) } : rest;
}

function used(screen: ScreenState, usage: Extract<AgentEvent, { type: 'usage' }>['usage']): ScreenState {
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
  return { ...screen, items: [...screen.items, item] };
}

function withoutRetry({ retry: _over, ...screen }: ScreenState): ScreenState {
  return screen;
}
