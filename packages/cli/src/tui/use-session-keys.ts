import type { ApprovalMode, Policy } from '@lathe/core';
import { useRef } from 'react';
import { useExit, useInput } from '../screen/screen.js';

/** What Shift+Tab goes through. Yolo has to be asked for by name. */
const modes: ApprovalMode[] = ['default', 'auto-edit', 'plan'];
/** A second Ctrl+C within this time leaves. */
const leaveMs = 2000;

export interface SessionKeys {
  policy: Policy;
  /** A question is on the screen and has the keys, but for Ctrl+C. */
  isAsked: boolean;
  /** Stops what runs; false when nothing does. */
  cancel: () => boolean;
  onMode: () => void;
  onIdleInterrupt: () => void;
}

/** Ctrl+C and Shift+Tab. */
export function useSessionKeys({ policy, isAsked, cancel, onMode, onIdleInterrupt }: SessionKeys): void {
  const exit = useExit();
  const interruptedAt = useRef(Number.NEGATIVE_INFINITY);
  const interrupt = () => {
    if (performance.now() - interruptedAt.current < leaveMs) exit();
    interruptedAt.current = performance.now();
    if (!cancel()) onIdleInterrupt();
  };
  useInput((input, key) => {
    if (key.ctrl && input === 'c') interrupt();
    else if (!isAsked && key.tab && key.shift) {
      policy.mode = modes[(modes.indexOf(policy.mode) + 1) % modes.length] ?? 'default';
      onMode();
    }
  });
}
