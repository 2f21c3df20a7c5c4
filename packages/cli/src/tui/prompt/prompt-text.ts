import { visibleText } from '@lathe/core/host';
import type { Style } from '../../render/style.js';
import type { EditorState } from './editor.js';

/** Lines of a long text that are shown around the cursor. */
const maxLines = 10;

/** The text as the prompt shows it, with a cursor: of a long one the lines around the cursor. */
export function promptText({ text, cursor }: EditorState, placeholder: string, style: Style): string {
  if (text === '') return `█${style.dim(placeholder)}`;
  const lines = `${visibleText(text.slice(0, cursor))}█${visibleText(text.slice(cursor))}`.split('\n');
  if (lines.length <= maxLines) return lines.join('\n  ');
  const at = text.slice(0, cursor).split('\n').length - 1;
  const from = Math.max(0, Math.min(at - maxLines + 2, lines.length - maxLines));
  return [style.dim(`(${lines.length} lines)`), ...lines.slice(from, from + maxLines)].join('\n  ');
}
