import { writeFile } from 'node:fs/promises';
import { PassThrough, Writable } from 'node:stream';
import { ScriptedModel } from '@lathe/agent/models';
import xterm from '@xterm/headless';
import type { Flags } from '../command-line/args.js';
import type { Io } from '../command-line/io.js';
import { startInteractive } from '../tui/start.js';
import { demoPrompt, demoScript } from './demo-script.js';
import { Film } from './svg-animation.js';

const size = { columns: 96, rows: 30 };
const stepMs = 250;
/** A reader needs this long before an answer, and at the end. */
const [readMs, restSeconds] = [2500, 6];

/** Runs the demo in a terminal without a screen, answers its questions with yes, and writes what was seen as an SVG. */
export async function recordDemo(
  root: string,
  file: string,
  flags: Flags,
  io: Io,
  signal: AbortSignal,
): Promise<number> {
  const terminal = new xterm.Terminal({
    cols: size.columns,
    rows: size.rows,
    scrollback: 1000,
    allowProposedApi: true,
  });
  const keyboard = new Keyboard();
  const { NO_COLOR: _colours, ...env } = io.env;
  const here: Io = {
    ...io,
    env: { ...env, TERM: 'xterm-256color' },
    stdin: asInput(keyboard),
    terminal: asOutput(new Screen(terminal)),
  };
  const film = new Film(size);
  const end = new AbortController();
  const camera = setInterval(() => film.take(terminal, stepMs / 1000), stepMs);
  const answers = answerQuestions(terminal, keyboard, end.signal);
  try {
    const model = new ScriptedModel(demoScript(root, 700));
    const code = await startInteractive([demoPrompt], flags, here, signal, { model });
    film.take(terminal, restSeconds);
    await writeFile(file, film.toSvg('lathe demo'));
    io.err(`Written to ${file}.`);
    return code;
  } finally {
    clearInterval(camera);
    end.abort();
    await answers;
  }
}

/** Says yes to each question once it could have been read, and leaves when the demo is over. */
async function answerQuestions(terminal: xterm.Terminal, keyboard: Keyboard, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const text = textOf(terminal);
    if (text.includes('Yes, once')) {
      await pause(readMs);
      keyboard.write('y');
      await pause(1000);
    } else if (text.includes('can be taken back') && text.includes('Ask for anything')) {
      await pause(readMs);
      keyboard.write('\u0003');
      keyboard.write('\u0003');
      return;
    } else await pause(stepMs);
  }
}

function textOf({ buffer: { active }, rows }: xterm.Terminal): string {
  const lines = Array.from({ length: rows }, (_, row) => active.getLine(active.baseY + row)?.translateToString(true));
  return lines.join('\n');
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

class Screen extends Writable {
  readonly isTTY = true;
  readonly columns = size.columns;
  readonly rows = size.rows;
  readonly #terminal: xterm.Terminal;

  constructor(terminal: xterm.Terminal) {
    super({ decodeStrings: false });
    this.#terminal = terminal;
  }

  override _write(chunk: string | Uint8Array, _encoding: string, done: () => void): void {
    // A terminal begins a new line where a program only ends one.
    this.#terminal.write(typeof chunk === 'string' ? chunk.replaceAll('\n', '\r\n') : chunk, done);
  }
}

class Keyboard extends PassThrough {
  readonly isTTY = true;
  setRawMode(): this {
    return this;
  }
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }
}

/** The program uses no more of a terminal's streams than these have. */
function asInput(stream: Keyboard): NodeJS.ReadStream {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
  return stream as unknown as NodeJS.ReadStream;
}

function asOutput(stream: Screen): NodeJS.WriteStream {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
  return stream as unknown as NodeJS.WriteStream;
}
