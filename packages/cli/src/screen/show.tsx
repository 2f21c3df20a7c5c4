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
const controlZ = '\u001a';
const hideCursor = '\u001b[?25l';

/** Shows an app until it exits, the terminal closes or the signal aborts. Always restores the terminal afterwards. */
export async function show(app: ReactNode, { terminal, keys, isScreenReader, signal }: ShowOptions): Promise<void> {
  const restore = () => {
    keys.setRawMode(false);
    terminal.write(disablePaste + showCursor);
  };
  const modes = {
    enter: () => {
      // Another program may have changed the mode, and setting the same value again has no effect.
      keys.setRawMode(false).setRawMode(true);
      terminal.write(enablePaste + (isScreenReader ? '' : hideCursor));
    },
    leave: restore,
  };
  const suspend = () => {
    shown.pause();
    process.kill(process.pid, 'SIGSTOP');
  };
  const resume = () => shown.resume();
  process.on('SIGTSTP', suspend).on('SIGCONT', resume);
  keys.on('key', suspendJob);
  // For an unexpected exit: an uncaught error or a second Ctrl+C.
  process.once('exit', restore);
  modes.enter();
  const shown = openScreen(app, terminal, keys, modes);
  const close = () => shown.close();
  signal.addEventListener('abort', close, { once: true });
  keys.once('end', close);
  try {
    await shown.ended;
  } finally {
    signal.removeEventListener('abort', close);
    keys.off('end', close).off('key', suspendJob);
    process.off('exit', restore).off('SIGTSTP', suspend).off('SIGCONT', resume);
    restore();
    keys.release();
  }
}

/** Ctrl+Z. The whole job stops, because the shell comes back only when a parent such as npx has stopped too. */
function suspendJob(sent: string): void {
  if (sent === controlZ && process.platform !== 'win32') process.kill(0, 'SIGTSTP');
}
