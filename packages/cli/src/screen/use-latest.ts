import { useReducer, useRef } from 'react';

/** State for key handlers. Several keys may arrive before the next render, and each must see the effect of the last. */
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
