import { type AgentEvent, type CallOutcome, type CallStatus, type Display, visibleText } from '@lathe/core';

/** One thing in the scrollback. Once there it never changes. All text is inert. */
export type HistoryItem =
  | { type: 'prompt'; text: string }
  | { type: 'answer'; text: string }
  | { type: 'call'; call: CallView }
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
  /** What the model is writing now. */
  liveText: string;
  isThinking: boolean;
  /** Calls that have not ended, in call order. */
  calls: readonly CallView[];
  isBusy: boolean;
  startedAt: number;
  retry?: string;
  tokens: number;
  cost?: number;
  contextTokens: number;
  contextWindow: number;
}

export const emptyScreen: ScreenState = {
  items: [],
  liveText: '',
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
      return { ...withoutRetry(screen), isBusy: false, liveText: '', isThinking: false, calls: [] };
    case 'clear':
      return emptyScreen;
    case 'agent':
      return afterAgentEvent(screen, event.event, event.now);
  }
}

function afterAgentEvent(screen: ScreenState, event: AgentEvent, now: number): ScreenState {
  switch (event.type) {
    case 'text-delta':
      return { ...withoutRetry(screen), isThinking: false, liveText: screen.liveText + visibleText(event.text) };
    case 'reasoning-delta':
      return { ...withoutRetry(screen), isThinking: true };
    case 'retry':
      return { ...screen, liveText: '', retry: visibleText(`${event.reason} Trying again (${event.attempt}).`) };
    case 'message-add':
      return event.message.role === 'model' ? answered(screen, event.message.parts) : screen;
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
      return add(screen, {
        type: 'notice',
        level: 'info',
        text: `History shortened from ${event.compaction.tokensBefore} to ${event.compaction.tokensAfter} tokens.`,
      });
    case 'notice':
      return add(screen, { type: 'notice', level: event.level, text: visibleText(event.message) });
    case 'prompt-end':
      return event.end.message === undefined
        ? screen
        : add(screen, { type: 'notice', level: 'warning', text: visibleText(event.end.message) });
    case 'prompt-start':
    case 'turn-start':
    case 'compaction-start':
    case 'subagent-event':
      return screen;
  }
}

function answered(screen: ScreenState, parts: readonly { text?: string; thought?: boolean }[]): ScreenState {
  const text = parts.map((part) => (part.thought ? '' : (part.text ?? ''))).join('');
  const rest = { ...screen, liveText: '', isThinking: false };
  return text.trim() === '' ? rest : add(rest, { type: 'answer', text: visibleText(text) });
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
    startedAt: known?.startedAt ?? now,
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
    durationMs: outcome.durationMs,
    display: outcome.returnDisplay,
    ...(outcome.error && { error: visibleText(outcome.error.message) }),
  };
  const calls = screen.calls.filter(({ callId }) => callId !== outcome.callId);
  return add({ ...screen, calls }, { type: 'call', call });
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
