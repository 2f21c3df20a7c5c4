import { render } from 'ink';
import type { ReactNode } from 'react';
import { disablePaste, enablePaste, type KeyStream } from './key-stream.js';
import { endlessTerminal } from './terminal-size.js';

export interface ShowOptions {
  terminal: NodeJS.WriteStream;
  keys: KeyStream;
  /** For a screen reader. */
  isSpoken: boolean;
  signal: AbortSignal;
}

const showCursor = '\u001b[?25h';
const hideCursor = '\u001b[?25l';

/** Shows something until it is left or the signal aborts. The terminal is as it was afterwards, whatever happened. */
export async function show(app: ReactNode, { terminal, keys, isSpoken, signal }: ShowOptions): Promise<void> {
  const restore = () => {
    keys.setRawMode(false);
    terminal.write(disablePaste + showCursor);
  };
  const suspend = () => {
    restore();
    process.kill(process.pid, 'SIGSTOP');
  };
  const resume = () => {
    // Whoever had the terminal meanwhile has set its mode, so ours counts only when it is set anew.
    keys.setRawMode(false).setRawMode(true);
    terminal.write(enablePaste + (isSpoken ? '' : hideCursor));
    // Draws everything once more.
    terminal.emit('resize');
  };
  process.on('SIGTSTP', suspend).on('SIGCONT', resume);
  // For an end that nobody foresaw: an error that was not caught, or a second Ctrl+C.
  process.once('exit', restore);
  terminal.write(enablePaste);
  const shown = render(app, {
    exitOnCtrlC: false,
    patchConsole: false,
    stdin: asTerminal(keys),
    stdout: endlessTerminal(terminal),
    isScreenReaderEnabled: isSpoken,
    maxFps: 60,
  });
  const leave = () => shown.unmount();
  signal.addEventListener('abort', leave, { once: true });
  try {
    await shown.waitUntilExit();
  } finally {
    signal.removeEventListener('abort', leave);
    process.off('exit', restore).off('SIGTSTP', suspend).off('SIGCONT', resume);
    restore();
    keys.release();
  }
}

/** Ink asks for a terminal's stream and uses no more of it than this. */
function asTerminal(keys: KeyStream): NodeJS.ReadStream {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
  return keys as unknown as NodeJS.ReadStream;
}
