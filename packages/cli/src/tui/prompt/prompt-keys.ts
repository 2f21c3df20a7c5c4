import type { Key } from '../../screen/keys.js';
import type { Edit } from './editor.js';

/** The edit that a key makes; `undefined` for keys that do not edit. */
export function editOf(input: string, key: Key): Edit | undefined {
  if (key.return || input === '\n') return { type: 'insert', text: '\n' };
  const move = moveOf(key);
  if (move) return move;
  if (key.backspace) return { type: key.meta ? 'delete-word' : 'backspace' };
  if (key.delete) return { type: 'delete' };
  if (key.ctrl) return controlEdits[input];
  if (key.meta) return metaEdits[input];
  if (key.escape || key.tab || input === '') return undefined;
  return { type: 'insert', text: input };
}

function moveOf(key: Key): Edit | undefined {
  const isWord = key.ctrl || key.meta;
  if (key.leftArrow) return { type: isWord ? 'word-left' : 'left' };
  if (key.rightArrow) return { type: isWord ? 'word-right' : 'right' };
  if (key.home) return { type: 'home' };
  if (key.end) return { type: 'end' };
  if (key.upArrow) return { type: 'up' };
  return key.downArrow ? { type: 'down' } : undefined;
}

const controlEdits: Record<string, Edit> = {
  a: { type: 'home' },
  e: { type: 'end' },
  b: { type: 'left' },
  f: { type: 'right' },
  d: { type: 'delete' },
  w: { type: 'delete-word' },
  u: { type: 'delete-to-start' },
  k: { type: 'delete-to-end' },
  j: { type: 'insert', text: '\n' },
};

const metaEdits: Record<string, Edit> = { b: { type: 'word-left' }, f: { type: 'word-right' } };
