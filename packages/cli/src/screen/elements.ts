import { createElement, type ReactNode, type RefObject } from 'react';
import type { ColumnNode, Frame } from './nodes.js';

/** Text of one or more lines. It may contain colours but no other control sequences. */
export function Text({ children, isTruncated = false }: { children: string; isTruncated?: boolean }) {
  return createElement('lathe-text', { text: children, isTruncated });
}

export interface ColumnProps {
  children: ReactNode;
  frame?: Frame;
  /** Colours the frame. */
  paint?: (text: string) => string;
  ref?: RefObject<ColumnNode | null>;
}

/** Stacks its children vertically. */
export function Column({ children, frame, paint, ref }: ColumnProps) {
  return createElement('lathe-column', { frame, paint, ref }, children);
}

/** The scrollback: each new item is written once, above the live area. */
export function Scrollback<T>({ items, textOf }: { items: readonly T[]; textOf: (item: T) => string }) {
  const textAt = (index: number) => {
    const item = items[index];
    return item === undefined ? '' : textOf(item);
  };
  return createElement('lathe-scrollback', { count: items.length, textAt });
}
