import { useRef } from 'react';
import type { Key } from '../../screen/keys.js';
import { useInput } from '../../screen/screen.js';

/** Receives the keys that were not meant for a question. */
export type EarlyKey = (input: string, key: Key) => void;

/** A key this soon after the question appeared, or after such a key, was not meant for it. */
const pauseMs = 350;

/** Calls `listener` for the keys of a question. What a person was still typing when it appeared goes to `onEarlyKey`. */
export function useAnswerKeys(listener: EarlyKey, onEarlyKey: EarlyKey): void {
  const quietSince = useRef(performance.now());
  const isListening = useRef(false);
  useInput((input, key) => {
    const now = performance.now();
    isListening.current ||= now - quietSince.current >= pauseMs;
    if (isListening.current) return listener(input, key);
    quietSince.current = now;
    return onEarlyKey(input, key);
  });
}
