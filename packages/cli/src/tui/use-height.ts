import { type DOMElement, measureElement } from 'ink';
import { type RefObject, useLayoutEffect, useRef, useState } from 'react';

/** A box to be measured, and how many lines it took when it was last drawn. */
export function useHeight(): [RefObject<DOMElement | null>, number] {
  const box = useRef<DOMElement>(null);
  const [height, setHeight] = useState(1);
  useLayoutEffect(() => {
    if (box.current) setHeight(measureElement(box.current).height);
  });
  return [box, height];
}
