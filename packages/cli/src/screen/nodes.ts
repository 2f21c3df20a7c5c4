import { padLine, truncateLine, wrapLines } from '../render/lines.js';

export interface TextNode {
  type: 'lathe-text';
  text: string;
  /** Truncates the text to one line instead of wrapping it. */
  isTruncated: boolean;
}

/** Stacks its children vertically. */
export interface ColumnNode {
  type: 'lathe-column';
  children: ScreenNode[];
  frame: Frame | undefined;
  /** Colours the frame. */
  paint?: (text: string) => string;
}

/** Each text is written to the scrollback once and never drawn again. */
export interface ScrollbackNode {
  type: 'lathe-scrollback';
  count: number;
  textAt: (index: number) => string;
}

export type ScreenNode = TextNode | ColumnNode | ScrollbackNode;
/** `rule` and `plain-rule`: a line above and a line below. */
export type Frame = 'round' | 'plain' | 'rule' | 'plain-rule';

const frames = {
  round: { top: ['╭', '╮'], bottom: ['╰', '╯'], line: '─', side: '│' },
  plain: { top: ['+', '+'], bottom: ['+', '+'], line: '-', side: '|' },
  rule: { line: '─', side: '' },
  'plain-rule': { line: '-', side: '' },
} as const;

/** Renders a node as lines of at most `width` columns. */
export function linesOf(node: ScreenNode, width: number): string[] {
  switch (node.type) {
    case 'lathe-text':
      return node.isTruncated ? [truncateLine(node.text, width)] : wrapLines(node.text, width);
    case 'lathe-column':
      return node.frame === undefined
        ? node.children.flatMap((child) => linesOf(child, width))
        : framed(node, frames[node.frame], width);
    case 'lathe-scrollback':
      return [];
  }
}

/** Omits the frame if the screen is too narrow. */
function framed(
  { children, paint = (text) => text }: ColumnNode,
  frame: (typeof frames)[Frame],
  width: number,
): string[] {
  const inside = frame.side === '' ? width : width - 4;
  if (inside < 1) return children.flatMap((child) => linesOf(child, width));
  const lines = children.flatMap((child) => linesOf(child, inside));
  if (frame.side === '') return [paint(frame.line.repeat(width)), ...lines, paint(frame.line.repeat(width))];
  const rule = (corners: readonly [string, string]) => paint(corners.join(frame.line.repeat(inside + 2)));
  const side = paint(frame.side);
  return [rule(frame.top), ...lines.map((line) => `${side} ${padLine(line, inside)} ${side}`), rule(frame.bottom)];
}
