import { useRef } from 'react';
import type { Key } from './keys.js';
import { useInput } from './screen.js';

/** Receives the keys that were not meant for a question. */
export type EarlyKey = (input: string, key: Key) => void;

/** A key this soon after the question appeared, or after such a key, was not meant for it. */
const pauseMs = 350;

/**
 * Calls `listener` for the keys of a question. What a person was still typing when it appeared goes to `onEarlyKey`;
 * without it the person has opened the question and every key counts.
 */
export function useAnswerKeys(listener: EarlyKey, onEarlyKey: EarlyKey | undefined): void {
  const quietSince = useRef(performance.now());
  const isListening = useRef(onEarlyKey === undefined);
  useInput((input, key) => {
    const now = performance.now();
    isListening.current ||= now - quietSince.current >= pauseMs;
    if (isListening.current) return listener(input, key);
    quietSince.current = now;
    return onEarlyKey?.(input, key);
  });
}
