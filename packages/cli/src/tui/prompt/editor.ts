import { markAtEnd, markAtStart } from './long-pastes.js';

/** The text being typed and where the cursor is. */
export interface EditorState {
  text: string;
  /** Index into `text`, always between two characters. */
  cursor: number;
}

export const emptyEditor: EditorState = { text: '', cursor: 0 };

/** What a key does to the text. Pure, so that every key can be tested without a terminal. */
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

/** True when the cursor has no line above it: "up" then means the history. */
export const isOnFirstLine = ({ text, cursor }: EditorState): boolean => !text.slice(0, cursor).includes('\n');
export const isOnLastLine = ({ text, cursor }: EditorState): boolean => !text.slice(cursor).includes('\n');

const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/** Emoji and accents are one step, however many code units they have, and so is the mark of a paste. */
function before(text: string, cursor: number): number {
  const mark = text[cursor - 1] === ']' ? markAtEnd.exec(text.slice(0, cursor)) : null;
  if (mark) return mark.index;
  const from = Math.max(0, cursor - 64);
  const segments = [...segmenter.segment(text.slice(from, cursor))];
  return cursor - (segments.at(-1)?.segment.length ?? 0);
}

function after(text: string, cursor: number): number {
  const mark = text[cursor] === '[' ? markAtStart.exec(text.slice(cursor)) : null;
  if (mark) return cursor + mark[0].length;
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

/** The place in the line around `inLine` that is as far from its start as the cursor is from its own. */
function sameColumn(text: string, cursor: number, inLine: number): number {
  if (inLine < 0 || inLine > text.length) return cursor;
  const column = cursor - lineStart(text, cursor);
  return Math.min(lineStart(text, inLine) + column, lineEnd(text, inLine));
}

function remove(text: string, from: number, to: number): EditorState {
  return { text: text.slice(0, from) + text.slice(to), cursor: from };
}
