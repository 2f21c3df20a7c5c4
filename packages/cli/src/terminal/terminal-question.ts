import { createInterface } from 'node:readline/promises';
import type { Io } from '../command-line/io.js';

/** Asks for a line on the terminal; nothing when its input is at an end (Ctrl+D). Ctrl+C interrupts, as everywhere. */
export async function askOnTerminal(question: string, io: Io, signal: AbortSignal): Promise<string> {
  const terminal = createInterface({ input: io.stdin, output: process.stderr });
  const over = new AbortController();
  // A question to a closed terminal would wait for ever.
  terminal.once('close', () => over.abort());
  terminal.once('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  try {
    return (await terminal.question(question, { signal: AbortSignal.any([signal, over.signal]) })).trim();
  } catch (error) {
    signal.throwIfAborted();
    if (over.signal.aborted) return '';
    throw error;
  } finally {
    terminal.close();
  }
}
