import { writeFile } from 'node:fs/promises';
import { PassThrough, Writable } from 'node:stream';
import { ScriptedModel } from '@lathe/agent/models';
import xterm from '@xterm/headless';
import type { Flags } from '../command-line/args.js';
import type { Io } from '../command-line/io.js';
import { startInteractive } from '../tui/start.js';
import { demoPrompt, demoScript } from './demo-script.js';
import { SvgAnimation } from './svg-animation.js';

const size = { columns: 96, rows: 30 };
const stepMs = 250;
/** Time to read a question, and to look at the last frame. */
const [readMs, lastFrameSeconds] = [2500, 6];

/** Runs the demo in a headless terminal, approves every call, and writes the screens as an animated SVG. */
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
  const animation = new SvgAnimation(size);
  const end = new AbortController();
  const camera = setInterval(() => animation.add(terminal, stepMs / 1000), stepMs);
  const answers = answerQuestions(terminal, keyboard, end.signal);
  try {
    const model = new ScriptedModel(demoScript(root, 700));
    const code = await startInteractive([demoPrompt], flags, here, signal, { model });
    animation.add(terminal, lastFrameSeconds);
    await writeFile(file, animation.toSvg('lathe demo'));
    io.err(`Written to ${file}.`);
    return code;
  } finally {
    clearInterval(camera);
    end.abort();
    await answers;
  }
}

/** Approves each call after a pause for reading, and quits at the end of the demo. */
async function answerQuestions(terminal: xterm.Terminal, keyboard: Keyboard, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const text = textOf(terminal);
    if (text.includes('Yes, once')) {
      await pause(readMs);
      keyboard.write('y');
      await pause(1000);
    } else if (text.includes('can undo every change') && text.includes('Ask for anything')) {
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
    // A real terminal converts line feeds.
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

/** The program uses only the members that these streams have. */
function asInput(stream: Keyboard): NodeJS.ReadStream {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
  return stream as unknown as NodeJS.ReadStream;
}

function asOutput(stream: Screen): NodeJS.WriteStream {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
  return stream as unknown as NodeJS.WriteStream;
}
