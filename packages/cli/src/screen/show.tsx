import type { ReactNode } from 'react';
import { disablePaste, enablePaste, type KeyStream } from './key-stream.js';
import { openScreen } from './screen.js';

export interface ShowOptions {
  terminal: NodeJS.WriteStream;
  keys: KeyStream;
  /** For a screen reader. */
  isSpoken: boolean;
  signal: AbortSignal;
}

const showCursor = '\u001b[?25h';
const hideCursor = '\u001b[?25l';

/** Shows something until it is left, the terminal is gone or the signal aborts. The terminal is as it was afterwards, whatever happened. */
export async function show(app: ReactNode, { terminal, keys, isSpoken, signal }: ShowOptions): Promise<void> {
  const restore = () => {
    keys.setRawMode(false);
    terminal.write(disablePaste + showCursor);
  };
  const suspend = () => {
    restore();
    process.kill(process.pid, 'SIGSTOP');
  };
  const begin = () => {
    // Whoever had the terminal meanwhile has set its mode, so ours counts only when it is set anew.
    keys.setRawMode(false).setRawMode(true);
    terminal.write(enablePaste + (isSpoken ? '' : hideCursor));
  };
  const resume = () => {
    begin();
    shown.redraw();
  };
  process.on('SIGTSTP', suspend).on('SIGCONT', resume);
  // For an end that nobody foresaw: an error that was not caught, or a second Ctrl+C.
  process.once('exit', restore);
  begin();
  const shown = openScreen(app, terminal, keys);
  const leave = () => shown.close();
  signal.addEventListener('abort', leave, { once: true });
  keys.once('end', leave);
  try {
    await shown.ended;
  } finally {
    signal.removeEventListener('abort', leave);
    keys.off('end', leave);
    process.off('exit', restore).off('SIGTSTP', suspend).off('SIGCONT', resume);
    restore();
    keys.release();
  }
}
