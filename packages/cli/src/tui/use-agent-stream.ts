import type { AgentEvent } from '@lathe/agent';
import { useCallback, useEffect, useReducer, useRef, useState } from 'react';
import { errorMessage } from '../command-line/error-message.js';
import { emptyScreen, nextScreen, type ScreenEvent, type ScreenState } from './screen-state.js';

/** Events within one frame are drawn together. */
const frameMs = 33;

/** The screen state, updated from event streams at most once per frame. Waits for `loaded` before the first event. */
export function useAgentStream(loaded: Promise<void>): {
  screen: ScreenState;
  send: (event: ScreenEvent) => void;
  follow: (prompt: string, events: AsyncIterable<AgentEvent>) => Promise<void>;
} {
  const [screen, dispatch] = useReducer(
    (state: ScreenState, events: readonly ScreenEvent[]) => events.reduce(nextScreen, state),
    emptyScreen,
  );
  const pending = useRef<ScreenEvent[]>([]);
  const flush = useCallback(() => {
    if (pending.current.length === 0) return;
    dispatch(pending.current);
    pending.current = [];
  }, []);
  const send = useCallback(
    (event: ScreenEvent) => {
      pending.current.push(event);
      flush();
    },
    [flush],
  );
  const follow = useCallback(
    async (prompt: string, events: AsyncIterable<AgentEvent>) => {
      send({ type: 'begin', prompt, now: performance.now() });
      const timer = setInterval(flush, frameMs);
      try {
        await loaded;
        for await (const event of events) pending.current.push({ type: 'agent', event, now: performance.now() });
      } catch (error) {
        const text = errorMessage(error);
        pending.current.push({ type: 'add', item: { type: 'notice', level: 'warning', text } });
      } finally {
        clearInterval(timer);
        send({ type: 'end' });
      }
    },
    [send, flush, loaded],
  );
  return { screen, send, follow };
}

/** The current time. While `isRunning`, draws again often enough for a spinner. */
export function useClock(isRunning: boolean): number {
  const [, drawAgain] = useState(0);
  useEffect(() => {
    if (!isRunning) return undefined;
    const timer = setInterval(() => drawAgain((count) => count + 1), 100);
    return () => clearInterval(timer);
  }, [isRunning]);
  // Not a state: it would be as old as the last work, and new work would begin with a negative time.
  return performance.now();
}
