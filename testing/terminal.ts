import { join } from 'node:path';
import { spawn } from '@lydell/node-pty';
import xterm from '@xterm/headless';
import { expect, onTestFinished } from 'vitest';
import { tempDirectory } from './temp-directory.js';

const program = join(import.meta.dirname, '..', 'packages', 'cli', 'dist', 'main.cjs');

export interface TerminalOptions {
  cwd: string;
  env?: Record<string, string>;
  columns?: number;
  rows?: number;
  /** The background that the emulator names when it is asked, as `rgb:ffff/ffff/ffff`. */
  background?: string;
  /** Lets a shell start it, which says in the end how the terminal was left; see `isCooked`. */
  isStartedByShell?: boolean;
}

/** Starts what it is given, tells its process id, and shows the modes of the terminal afterwards. */
const shell = 'sh -c \'echo "started as $$"; exec "$@"\' sh "$@"; code=$?; stty -a; exit $code';

/** The real program in a real pseudo-terminal, with a terminal emulator that keeps its screen. */
export function terminal(args: string[], options: TerminalOptions) {
  const { cwd, env, columns = 100, rows = 40, isStartedByShell = false } = options;
  const screen = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true, scrollback: 5000 });
  const command = [process.execPath, program, ...args];
  const [file = '', ...rest] = isStartedByShell ? ['sh', '-c', shell, 'sh', ...command] : command;
  const child = spawn(file, rest, {
    cols: columns,
    rows,
    cwd,
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: tempDirectory(),
      TERM: 'xterm-256color',
      NO_COLOR: '1',
      ...env,
    },
  });
  let raw = '';
  let exitCode: number | undefined;
  child.onData((data) => {
    raw += data;
    if (options.background !== undefined && data.includes('\u001b]11;?'))
      child.write(`\u001b]11;${options.background}\u001b\\\u001b[?62;22c`);
    screen.write(data);
  });
  child.onExit((exit) => {
    exitCode = exit.exitCode;
  });
  onTestFinished(() => {
    if (exitCode === undefined) child.kill('SIGKILL');
  });
  const text = () => {
    const { active } = screen.buffer;
    return Array.from({ length: active.length }, (_, row) => active.getLine(row)?.translateToString(true) ?? '').join(
      '\n',
    );
  };
  return {
    type: (keys: string) => child.write(keys),
    resize: (to: number, toRows = rows) => {
      child.resize(to, toRows);
      screen.resize(to, toRows);
    },
    text,
    /** What a person sees now, without the scrollback. */
    visible: () => {
      const { active } = screen.buffer;
      return Array.from(
        { length: screen.rows },
        (_, row) => active.getLine(active.baseY + row)?.translateToString(true) ?? '',
      ).join('\n');
    },
    raw: () => raw,
    shows: async (wanted: string) => {
      await expect.poll(text, { timeout: 25_000, interval: 30 }).toContain(wanted);
    },
    exited: async () => {
      await expect.poll(() => exitCode !== undefined, { timeout: 25_000, interval: 30 }).toBe(true);
      // What it printed last is on the screen when this is.
      await new Promise<void>((resolve) => screen.write('', resolve));
      return exitCode;
    },
    /** Of the program itself, as soon as it shows something. */
    pid: () => (isStartedByShell ? Number(/started as (\d+)/.exec(raw)?.[1]) : child.pid),
    /** As when a window is closed or a connection is lost. */
    hangUp: () => {
      // Not in its types, but the only way to close our side.
      if ('destroy' in child && typeof child.destroy === 'function') child.destroy();
    },
  };
}

/** Every mode that was switched on has been switched off again. */
export function isRestored(raw: string): boolean {
  const isOff = (mode: string) => raw.lastIndexOf(`\u001b[?${mode}l`) >= raw.lastIndexOf(`\u001b[?${mode}h`);
  return isOff('2004') && raw.lastIndexOf('\u001b[?25h') >= raw.lastIndexOf('\u001b[?25l');
}

/** The terminal handles lines and echoes again; only with `isStartedByShell`. */
export function isCooked(text: string): boolean {
  return /(?<=\s)icanon\b/.test(text) && /(?<=\s)echo\b/.test(text) && /(?<=\s)isig\b/.test(text);
}

/** Longer than a question is deaf to keys. */
export const think = () => new Promise((resolve) => setTimeout(resolve, 400));
