import { createElement, type ReactNode, type RefObject } from 'react';
import type { ColumnNode, Frame } from './nodes.js';

/** A text of one or more lines; it may have colours, and no other control sequences. */
export function Text({ children, isCut = false }: { children: string; isCut?: boolean }) {
  return createElement('lathe-text', { text: children, isCut });
}

export interface ColumnProps {
  children: ReactNode;
  /** Draws a frame around it. */
  frame?: Frame;
  ref?: RefObject<ColumnNode | null>;
}

/** Things below each other. */
export function Column({ children, frame, ref }: ColumnProps) {
  return createElement('lathe-column', { frame, ref }, children);
}

/** The scrollback: what is added to it is written above the rest, once. */
export function Past<T>({ items, textOf }: { items: readonly T[]; textOf: (item: T) => string }) {
  const textAt = (index: number) => {
    const item = items[index];
    return item === undefined ? '' : textOf(item);
  };
  return createElement('lathe-past', { count: items.length, textAt });
}
