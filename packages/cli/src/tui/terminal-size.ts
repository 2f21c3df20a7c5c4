import { useEffect, useState } from 'react';

export interface TerminalSize {
  columns: number;
  rows: number;
}

/** The size of the terminal, also after it changed. */
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

/**
 * The terminal as ink may see it: without an end. Ink wipes a terminal, scrollback included, when what it draws does not
 * fit; here the parts of the screen keep to the size themselves.
 */
export function endlessTerminal(terminal: NodeJS.WriteStream): NodeJS.WriteStream {
  return new Proxy(terminal, {
    get(target, name) {
      if (name === 'rows') return Number.POSITIVE_INFINITY;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
