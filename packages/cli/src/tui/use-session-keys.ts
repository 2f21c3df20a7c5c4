import type { ApprovalMode, Policy } from '@lathe/core';
import { useRef } from 'react';
import { useExit, useInput } from '../screen/screen.js';

/** The modes that Shift+Tab cycles through. Yolo must be set by name. */
const modes: ApprovalMode[] = ['default', 'auto-edit', 'plan'];
/** A second Ctrl+C within this time quits. */
const quitMs = 2000;
/** A second Esc within this time lists the prompts to go back to. */
const rewindMs = 800;

export interface SessionKeys {
  policy: Pick<Policy, 'mode'>;
  /** An open question receives all keys except Ctrl+C. */
  hasQuestion: boolean;
  /** Stops the current work; false if there is none. */
  cancel: () => boolean;
  onMode: () => void;
  onIdleInterrupt: () => void;
}

/** Handles Ctrl+C and Shift+Tab. */
export function useSessionKeys({ policy, hasQuestion, cancel, onMode, onIdleInterrupt }: SessionKeys): void {
  const exit = useExit();
  const interruptedAt = useRef(Number.NEGATIVE_INFINITY);
  const interrupt = () => {
    if (performance.now() - interruptedAt.current < quitMs) exit();
    interruptedAt.current = performance.now();
    if (!cancel()) onIdleInterrupt();
  };
  useInput((input, key) => {
    if (key.ctrl && input === 'c') interrupt();
    else if (!hasQuestion && key.tab && key.shift) {
      policy.mode = modes[(modes.indexOf(policy.mode) + 1) % modes.length] ?? 'default';
      onMode();
    }
  });
}

/** Handles Esc: the first one stops the current work, if there is any. */
export function useEscape(cancel: () => boolean, onSecond: () => void): () => void {
  const pressedAt = useRef(Number.NEGATIVE_INFINITY);
  return () => {
    const isSecond = performance.now() - pressedAt.current < rewindMs;
    pressedAt.current = performance.now();
    if (!cancel() && isSecond) onSecond();
  };
}
