import { useEffect, useState } from 'react';

export interface TerminalSize {
  columns: number;
  rows: number;
}

/** The current size of the terminal. */
export function useTerminalSize(terminal: NodeJS.WriteStream): TerminalSize {
  const [size, setSize] = useState(() => sizeOf(terminal));
  useEffect(() => {
    const measure = () => setSize(sizeOf(terminal));
    terminal.on('resize', measure);
    return () => void terminal.off('resize', measure);
  }, [terminal]);
  return size;
}

function sizeOf({ columns, rows }: NodeJS.WriteStream): TerminalSize {
  return { columns: columns || 80, rows: rows || 24 };
}
