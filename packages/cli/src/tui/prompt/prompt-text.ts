import { visibleText } from '@lathe/core/host';
import type { Style } from '../../render/style.js';
import type { EditorState } from './editor.js';

/** A longer text is shown only around the cursor. */
const maxLines = 10;

/** Renders the text with the cursor. */
export function promptText({ text, cursor }: EditorState, placeholder: string, style: Style): string {
  if (text === '') return `█${style.dim(placeholder)}`;
  const lines = `${visibleText(text.slice(0, cursor))}█${visibleText(text.slice(cursor))}`.split('\n');
  if (lines.length <= maxLines) return lines.join('\n  ');
  const at = text.slice(0, cursor).split('\n').length - 1;
  const from = Math.max(0, Math.min(at - maxLines + 2, lines.length - maxLines));
  return [style.dim(`(${lines.length} lines)`), ...lines.slice(from, from + maxLines)].join('\n  ');
}
