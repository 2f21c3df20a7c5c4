import { visibleText } from '@lathe/core/host';
import { truncateLine, wrapLines } from '../../render/lines.js';
import type { Style } from '../../render/style.js';
import type { EditorState } from './editor.js';

/** A longer text is shown only around the cursor. */
const maxLines = 10;

/** Renders the text with the cursor. */
export function promptText(
  { text, cursor }: EditorState,
  placeholder: string,
  { style, width, indent = 2 }: { style: Style; width: number; indent?: number },
): string {
  // Wrapped lines start below the text, not below the sign of the prompt.
  const room = Math.max(8, width - indent);
  const newLine = `\n${' '.repeat(indent)}`;
  if (text === '') return `█${style.dim(truncateLine(placeholder, room - 1))}`;
  const lines = wrapLines(`${visibleText(text.slice(0, cursor))}█${visibleText(text.slice(cursor))}`, room);
  if (lines.length <= maxLines) return lines.join(newLine);
  const at = lines.findIndex((line) => line.includes('█'));
  const from = Math.max(0, Math.min(at - maxLines + 2, lines.length - maxLines));
  return [style.dim(`(${lines.length} lines)`), ...lines.slice(from, from + maxLines)].join(newLine);
}
