import { createInterface } from 'node:readline/promises';
import type { Io } from '../command-line/io.js';

/** Reads a line from the terminal; the empty string at the end of input (Ctrl+D). Ctrl+C interrupts as usual. */
export async function askOnTerminal(question: string, io: Io, signal: AbortSignal): Promise<string> {
  const terminal = createInterface({ input: io.stdin, output: process.stderr });
  const closed = new AbortController();
  // A question to a closed terminal would never settle.
  terminal.once('close', () => closed.abort());
  terminal.once('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  try {
    return (await terminal.question(question, { signal: AbortSignal.any([signal, closed.signal]) })).trim();
  } catch (error) {
    signal.throwIfAborted();
    if (closed.signal.aborted) return '';
    throw error;
  } finally {
    terminal.close();
  }
}
