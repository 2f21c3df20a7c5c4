import { useState } from 'react';
import { useResize } from '../screen/screen.js';

export interface TerminalSize {
  columns: number;
  rows: number;
}

/** The current size of the terminal. */
export function useTerminalSize(terminal: NodeJS.WriteStream): TerminalSize {
  const [size, setSize] = useState(() => sizeOf(terminal));
  useResize(() => setSize(sizeOf(terminal)));
  return size;
}

function sizeOf({ columns, rows }: NodeJS.WriteStream): TerminalSize {
  return { columns: columns || 80, rows: rows || 24 };
}
