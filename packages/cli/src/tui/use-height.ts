import { type RefObject, useLayoutEffect, useRef, useState } from 'react';
import { type ColumnNode, linesOf } from '../screen/nodes.js';

/** A ref for a column, and how many lines of `width` columns it had when last drawn. */
export function useHeight(width: number): [RefObject<ColumnNode | null>, number] {
  const column = useRef<ColumnNode>(null);
  const [height, setHeight] = useState(1);
  useLayoutEffect(() => {
    if (column.current) setHeight(linesOf(column.current, width).length);
  });
  return [column, height];
}
