import type { ApprovalMode, Policy } from '@lathe/core';
import { useRef, useState } from 'react';
import { describeMode, shownMode } from '../command-line/approval-modes.js';
import { useExit, useInput } from '../screen/screen.js';

/** The modes that Shift+Tab cycles through. Yolo must be set by name. */
const modes: ApprovalMode[] = ['default', 'auto-edit', 'plan'];
/** A second Ctrl+C within this time quits, unless another key comes between. */
const quitMs = 2000;
/** A second Esc within this time lists the prompts to go back to. */
const rewindMs = 800;

export interface SessionKeys {
  policy: Pick<Policy, 'mode'>;
  hasSandbox: boolean;
  /** Stops the current work; false if there is none. */
  cancel: () => boolean;
  onMode: () => void;
}

/** Handles Ctrl+C and Shift+Tab, also while a question is open. Returns a hint to show until the next key. */
export function useSessionKeys({ policy, hasSandbox, cancel, onMode }: SessionKeys): string | undefined {
  const exit = useExit();
  const [hint, setHint] = useState<string | undefined>();
  const interruptedAt = useRef(Number.NEGATIVE_INFINITY);
  const interrupt = () => {
    if (performance.now() - interruptedAt.current < quitMs) exit();
    interruptedAt.current = performance.now();
    if (!cancel()) setHint('Press Ctrl+C again to quit. The up arrow brings back what you typed.');
  };
  useInput((input, key) => {
    setHint(undefined);
    if (key.ctrl && input === 'c') return interrupt();
    interruptedAt.current = Number.NEGATIVE_INFINITY;
    if (!key.tab || !key.shift) return undefined;
    policy.mode = modes[(modes.indexOf(policy.mode) + 1) % modes.length] ?? 'default';
    setHint(`${shownMode(policy.mode)} mode: ${describeMode(policy.mode, { hasSandbox })}`);
    return onMode();
  });
  return hint;
}

/** Handles Esc: the first one stops the current work, if there is any. */
export function useEscape(cancel: () => boolean, onSecond: () => void): () => void {
  const pressed = useRef({ at: Number.NEGATIVE_INFINITY, times: 0 });
  return () => {
    const { at, times } = pressed.current;
    const now = performance.now();
    pressed.current = { at: now, times: now - at < rewindMs ? times + 1 : 1 };
    // Somebody who keeps pressing wants out of everything, not into another list.
    if (!cancel() && pressed.current.times === 2) onSecond();
  };
}
