import { useReducer, useRef } from 'react';

/**
 * State that a key handler reads as it is now: several keys may arrive before the screen is drawn again, and each must
 * see what the one before it did.
 */
export function useLatest<T>(initial: T): { get: () => T; set: (value: T) => void } {
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  const value = useRef(initial);
  return useRef({
    get: () => value.current,
    set: (next: T) => {
      value.current = next;
      redraw();
    },
  }).current;
}
