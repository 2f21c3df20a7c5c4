import { cutLine, padLine, wrapLines } from '../render/lines.js';

export interface TextNode {
  type: 'lathe-text';
  text: string;
  /** What does not fit in a line is left out instead of going to the next one. */
  isCut: boolean;
}

/** Things below each other. */
export interface ColumnNode {
  type: 'lathe-column';
  children: ScreenNode[];
  frame: Frame | undefined;
}

/** What goes to the scrollback: each of its texts is written once and never drawn again. */
export interface PastNode {
  type: 'lathe-past';
  count: number;
  textAt: (index: number) => string;
}

export type ScreenNode = TextNode | ColumnNode | PastNode;
export type Frame = 'round' | 'plain';

const frames = {
  round: { top: ['╭', '╮'], bottom: ['╰', '╯'], line: '─', side: '│' },
  plain: { top: ['+', '+'], bottom: ['+', '+'], line: '-', side: '|' },
} as const;

/** A node as lines of at most `width` columns. */
export function linesOf(node: ScreenNode, width: number): string[] {
  switch (node.type) {
    case 'lathe-text':
      return node.isCut ? [cutLine(node.text, width)] : wrapLines(node.text, width);
    case 'lathe-column':
      return node.frame === undefined
        ? node.children.flatMap((child) => linesOf(child, width))
        : framed(node.children, frames[node.frame], width);
    case 'lathe-past':
      return [];
  }
}

/** On a screen too narrow for a frame there is none. */
function framed(children: readonly ScreenNode[], frame: (typeof frames)[Frame], width: number): string[] {
  const inside = width - 4;
  if (inside < 1) return children.flatMap((child) => linesOf(child, width));
  const rule = (corners: readonly [string, string]) => corners.join(frame.line.repeat(inside + 2));
  const lines = children.flatMap((child) => linesOf(child, inside));
  return [
    rule(frame.top),
    ...lines.map((line) => `${frame.side} ${padLine(line, inside)} ${frame.side}`),
    rule(frame.bottom),
  ];
}
