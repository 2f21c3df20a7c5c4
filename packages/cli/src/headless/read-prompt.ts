import { UsageError } from '../command-line/args.js';
import type { Io } from '../command-line/io.js';

const maxBytes = 8 * 1024 * 1024;

/** What to do: the words on the command line and, when something is piped in, that as well. */
export async function readPrompt(words: readonly string[], io: Io, signal: AbortSignal): Promise<string> {
  const asked = words.join(' ').trim();
  const stop = () => io.stdin.destroy();
  signal.throwIfAborted();
  signal.addEventListener('abort', stop, { once: true });
  const piped = io.stdin.isTTY ? '' : (await readPiped(io.stdin, asked === '' ? undefined : patienceMs)).trim();
  signal.removeEventListener('abort', stop);
  if (asked !== '' && piped !== '') return `${piped}\n\n${asked}`;
  const prompt = asked || piped;
  if (prompt === '') throw new UsageError('there is no prompt: lathe -p "what to do", or pipe it in');
  return prompt;
}

/** With a prompt on the command line, a pipe that nobody writes to must not hold the work up. */
const patienceMs = 300;

async function readPiped(stdin: Io['stdin'], patience: number | undefined): Promise<string> {
  if (patience === undefined) return readAll(stdin);
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<'silent'>((resolve) => {
    timer = setTimeout(() => resolve('silent'), patience);
  });
  const readable = new Promise<'readable'>((resolve) => {
    stdin.once('readable', () => resolve('readable'));
    stdin.once('end', () => resolve('readable'));
    stdin.once('error', () => resolve('readable'));
  });
  const what = await Promise.race([silence, readable]);
  clearTimeout(timer);
  if (what === 'readable') return readAll(stdin);
  stdin.destroy();
  return '';
}

async function readAll(stream: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    size += chunk.length;
    if (size > maxBytes) throw new UsageError('more than 8 MB on stdin; give the agent the name of a file instead');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
