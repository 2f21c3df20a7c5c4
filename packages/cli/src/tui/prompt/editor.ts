import { placeholderAtEnd, placeholderAtStart } from './long-pastes.js';

/** The text and the cursor. */
export interface EditorState {
  text: string;
  /** An index into `text`, never inside a character. */
  cursor: number;
}

export const emptyEditor: EditorState = { text: '', cursor: 0 };

/** A change of the text or the cursor. */
export type Edit =
  | { type: 'insert'; text: string }
  | { type: 'left' | 'right' | 'word-left' | 'word-right' | 'home' | 'end' | 'up' | 'down' }
  | { type: 'backspace' | 'delete' | 'delete-word' | 'delete-to-start' | 'delete-to-end' | 'clear' };

export function edit(state: EditorState, change: Edit): EditorState {
  const { text, cursor } = state;
  switch (change.type) {
    case 'insert':
      return { text: text.slice(0, cursor) + change.text + text.slice(cursor), cursor: cursor + change.text.length };
    case 'left':
      return { text, cursor: before(text, cursor) };
    case 'right':
      return { text, cursor: after(text, cursor) };
    case 'word-left':
      return { text, cursor: wordStart(text, cursor) };
    case 'word-right':
      return { text, cursor: cursor + (/^\s*\S*/.exec(text.slice(cursor))?.[0].length ?? 0) };
    case 'home':
      return { text, cursor: lineStart(text, cursor) };
    case 'end':
      return { text, cursor: lineEnd(text, cursor) };
    case 'up':
      return { text, cursor: sameColumn(text, cursor, lineStart(text, cursor) - 1) };
    case 'down':
      return { text, cursor: sameColumn(text, cursor, lineEnd(text, cursor) + 1) };
    case 'backspace':
      return remove(text, before(text, cursor), cursor);
    case 'delete':
      return remove(text, cursor, after(text, cursor));
    case 'delete-word':
      return remove(text, wordStart(text, cursor), cursor);
    case 'delete-to-start':
      return remove(text, lineStart(text, cursor), cursor);
    case 'delete-to-end':
      return remove(text, cursor, lineEnd(text, cursor));
    case 'clear':
      return emptyEditor;
  }
}

/** On the first line, "up" recalls the history. */
export const isOnFirstLine = ({ text, cursor }: EditorState): boolean => !text.slice(0, cursor).includes('\n');
export const isOnLastLine = ({ text, cursor }: EditorState): boolean => !text.slice(cursor).includes('\n');

const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/** A grapheme (emoji, accented letter) is one step, and so is the placeholder of a paste. */
function before(text: string, cursor: number): number {
  const placeholder = text[cursor - 1] === ']' ? placeholderAtEnd.exec(text.slice(0, cursor)) : null;
  if (placeholder) return placeholder.index;
  const from = Math.max(0, cursor - 64);
  const segments = [...segmenter.segment(text.slice(from, cursor))];
  return cursor - (segments.at(-1)?.segment.length ?? 0);
}

function after(text: string, cursor: number): number {
  const placeholder = text[cursor] === '[' ? placeholderAtStart.exec(text.slice(cursor)) : null;
  if (placeholder) return cursor + placeholder[0].length;
  const [next] = segmenter.segment(text.slice(cursor, cursor + 64));
  return cursor + (next?.segment.length ?? 0);
}

function wordStart(text: string, cursor: number): number {
  return cursor - (/\S*\s*$/.exec(text.slice(0, cursor))?.[0].length ?? 0);
}

const lineStart = (text: string, cursor: number): number => text.lastIndexOf('\n', cursor - 1) + 1;

function lineEnd(text: string, cursor: number): number {
  const end = text.indexOf('\n', cursor);
  return end === -1 ? text.length : end;
}

/** Moves the cursor to the line around `inLine` and keeps its column. */
function sameColumn(text: string, cursor: number, inLine: number): number {
  if (inLine < 0 || inLine > text.length) return cursor;
  const column = cursor - lineStart(text, cursor);
  return Math.min(lineStart(text, inLine) + column, lineEnd(text, inLine));
}

function remove(text: string, from: number, to: number): EditorState {
  return { text: text.slice(0, from) + text.slice(to), cursor: from };
}
