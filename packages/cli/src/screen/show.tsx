import type { ReactNode } from 'react';
import { disablePaste, enablePaste, type KeyStream } from './key-stream.js';
import { openScreen } from './screen.js';

export interface ShowOptions {
  terminal: NodeJS.WriteStream;
  keys: KeyStream;
  isScreenReader: boolean;
  signal: AbortSignal;
}

const showCursor = '\u001b[?25h';
const hideCursor = '\u001b[?25l';

/** Shows an app until it exits, the terminal closes or the signal aborts. Always restores the terminal afterwards. */
export async function show(app: ReactNode, { terminal, keys, isScreenReader, signal }: ShowOptions): Promise<void> {
  const restore = () => {
    keys.setRawMode(false);
    terminal.write(disablePaste + showCursor);
  };
  const suspend = () => {
    restore();
    process.kill(process.pid, 'SIGSTOP');
  };
  const begin = () => {
    // Another program may have changed the mode, and setting the same value again has no effect.
    keys.setRawMode(false).setRawMode(true);
    terminal.write(enablePaste + (isScreenReader ? '' : hideCursor));
  };
  const resume = () => {
    begin();
    shown.redraw();
  };
  process.on('SIGTSTP', suspend).on('SIGCONT', resume);
  // For an unexpected exit: an uncaught error or a second Ctrl+C.
  process.once('exit', restore);
  begin();
  const shown = openScreen(app, terminal, keys);
  const close = () => shown.close();
  signal.addEventListener('abort', close, { once: true });
  keys.once('end', close);
  try {
    await shown.ended;
  } finally {
    signal.removeEventListener('abort', close);
    keys.off('end', close);
    process.off('exit', restore).off('SIGTSTP', suspend).off('SIGCONT', resume);
    restore();
    keys.release();
  }
}
