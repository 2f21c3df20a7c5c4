import { UsageError } from '../command-line/args.js';
import type { Io } from '../command-line/io.js';
import { readAll } from '../command-line/read-all.js';

const maxBytes = 8 * 1024 * 1024;
const tooLong = 'more than 8 MB on stdin; name a file in the prompt instead';

/** The prompt: the words on the command line after the text on stdin, if there is any. */
export async function readPrompt(words: readonly string[], io: Io, signal: AbortSignal): Promise<string> {
  const typed = words.join(' ').trim();
  const stop = () => io.stdin.destroy();
  signal.throwIfAborted();
  signal.addEventListener('abort', stop, { once: true });
  const piped = io.stdin.isTTY ? '' : (await readPiped(io.stdin, typed === '' ? undefined : stdinTimeoutMs)).trim();
  signal.removeEventListener('abort', stop);
  if (typed !== '' && piped !== '') return `${piped}\n\n${typed}`;
  const prompt = typed || piped;
  if (prompt === '') throw new UsageError('no prompt: use lathe -p "what to do" or pipe it to stdin');
  return prompt;
}

/** With a prompt on the command line, an idle pipe on stdin must not block the run. */
const stdinTimeoutMs = 300;

async function readPiped(stdin: Io['stdin'], timeoutMs: number | undefined): Promise<string> {
  if (timeoutMs === undefined) return readAll(stdin, maxBytes, tooLong);
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<'silent'>((resolve) => {
    timer = setTimeout(() => resolve('silent'), timeoutMs);
  });
  const readable = new Promise<'readable'>((resolve) => {
    stdin.once('readable', () => resolve('readable'));
    stdin.once('end', () => resolve('readable'));
    stdin.once('error', () => resolve('readable'));
  });
  const first = await Promise.race([silence, readable]);
  clearTimeout(timer);
  if (first === 'readable') return readAll(stdin, maxBytes, tooLong);
  stdin.destroy();
  return '';
}
