import type { Style } from './style.js';

/** How to render: width, styles, and whether a screen reader is used. */
export interface ViewContext {
  style: Style;
  width: number;
  /** Renders Markdown as styled lines. */
  markdown: (text: string, width: number) => string;
  /** The name of a tool for people. */
  toolName: (name: string) => string;
  /** Words instead of symbols, no frames, no animation. */
  isScreenReader: boolean;
}
