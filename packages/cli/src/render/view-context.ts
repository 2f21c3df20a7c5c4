import type { Style } from './style.js';

/** How things are drawn: on what width, with which colours, for eyes or for ears. */
export interface ViewContext {
  style: Style;
  width: number;
  /** Markdown as styled lines. */
  markdown: (text: string, width: number) => string;
  /** For a screen reader: words instead of signs, no frames, nothing that moves. */
  isSpoken: boolean;
}
