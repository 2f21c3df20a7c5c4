import { useRef } from 'react';
import { pastedText } from './key-stream.js';
import type { Key } from './keys.js';
import { useInput } from './screen.js';

/** Receives the keys that were not meant for a question. */
export type EarlyKey = (input: string, key: Key) => void;

/** A key this soon after the question appeared, or after such a key, was not meant for it. */
const pauseMs = 350;

/**
 * Calls `listener` for the keys of a question. What a person was still typing when it appeared goes to `onEarlyKey`;
 * without it the person has opened the question and every key counts. Nor is text an answer that arrives at once and is
 * no single key, if the question `takesText` only later.
 */
export function useAnswerKeys(
  listener: EarlyKey,
  onEarlyKey: EarlyKey | undefined,
  { takesText = true }: { takesText?: boolean } = {},
): void {
  const quietSince = useRef(performance.now());
  const isListening = useRef(onEarlyKey === undefined);
  useInput((input, key) => {
    const now = performance.now();
    isListening.current ||= now - quietSince.current >= pauseMs;
    const isText = input.length > 1 && pastedText(input) === undefined;
    if (onEarlyKey && isText && !takesText) isListening.current = false;
    if (isListening.current) return listener(input, key);
    quietSince.current = now;
    return onEarlyKey?.(input, key);
  });
}
