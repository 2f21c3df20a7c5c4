import { EventEmitter, once } from 'node:events';
import { createContext, createElement, type ReactNode, useContext, useEffect, useRef } from 'react';
import { sanitizeOutput } from '../command-line/sanitize-output.js';
import { wrapLines } from '../render/lines.js';
import { type Key, keyOf } from './keys.js';
import { LiveArea } from './live-area.js';
import { type ColumnNode, linesOf, type ScrollbackNode } from './nodes.js';
import { type Root, reconciler, withInputPriority } from './reconciler.js';

type KeyListener = (input: string, key: Key) => void;

interface Controls {
  onKey: (listener: KeyListener) => () => void;
  onResize: (listener: () => void) => () => void;
  exit: () => void;
  lend: <T>(work: () => Promise<T>) => Promise<T>;
}

const controls = createContext<Controls>({
  onKey: () => () => undefined,
  onResize: () => () => undefined,
  exit: () => undefined,
  lend: (work) => work(),
});

/** Calls the listener for every key. */
export function useInput(listener: KeyListener): void {
  const latest = useRef(listener);
  latest.current = listener;
  const { onKey } = useContext(controls);
  useEffect(() => onKey((input, key) => latest.current(input, key)), [onKey]);
}

/** Calls the listener when the terminal has another size, before anything is drawn with it. */
export function useResize(listener: () => void): void {
  const latest = useRef(listener);
  latest.current = listener;
  const { onResize } = useContext(controls);
  useEffect(() => onResize(() => latest.current()), [onResize]);
}

/** A function that closes the screen. */
export function useExit(): () => void {
  return useContext(controls).exit;
}

/** A function that lets another program use the terminal while `work` runs. */
export function useLend(): Controls['lend'] {
  return useContext(controls).lend;
}

export interface OpenScreen {
  /** Resolves when the screen is closed; rejects with an error of a component. */
  ended: Promise<void>;
  close: () => void;
  /** Takes the live area away and draws nothing until `resume`, because another program uses the terminal. */
  pause: () => void;
  resume: () => void;
}

/** Switches the terminal to the modes that the screen needs, and back. */
export interface Modes {
  enter: () => void;
  leave: () => void;
}

const noModes: Modes = { enter: () => undefined, leave: () => undefined };

/** The part of a terminal that we use. */
interface Terminal {
  readonly columns: number;
  write(text: string): unknown;
  on(event: 'resize', listener: () => void): unknown;
  off(event: 'resize', listener: () => void): unknown;
}

/** Emits one key at a time, as the terminal sent it. */
interface Keys {
  on(event: 'key', listener: (sent: string) => void): unknown;
  off(event: 'key', listener: (sent: string) => void): unknown;
  /** Stops and starts reading, because another program reads the terminal. */
  release?(): void;
  resume?(): void;
}

/** Renders components on the last lines of a terminal and passes keys to them until one of them or the caller closes it. */
export function openScreen(app: ReactNode, terminal: Terminal, keys: Keys, modes = noModes): OpenScreen {
  const drawing = new Drawing(terminal);
  const listeners = new Set<KeyListener>();
  const resizeListeners = new Set<() => void>();
  let isOpen = true;
  const ending = new EventEmitter<{ end: []; error: [unknown] }>();
  const ended = once(ending, 'end').then(() => undefined);
  const fail = (error: unknown) => {
    if (isOpen) ending.emit('error', error);
    close();
  };
  const container = containerFor(drawing.root, fail);
  const press = (sent: string) => {
    const { input, key } = keyOf(sent);
    withInputPriority(() => {
      for (const listener of Array.from(listeners)) listener(input, key);
    });
  };
  const resize = () => {
    drawing.clear();
    // What is drawn next must fit: a frame that is taller than the screen could not be taken away again.
    withInputPriority(() => {
      for (const listener of resizeListeners) listener();
    });
    drawing.draw();
  };
  const close = () => {
    if (!isOpen) return;
    // Draws what the last key changed.
    reconciler.flushSyncWork();
    isOpen = false;
    drawing.finish();
    keys.off('key', press);
    terminal.off('resize', resize);
    reconciler.updateContainerSync(null, container, null);
    reconciler.flushSyncWork();
    ending.emit('end');
  };
  keys.on('key', press);
  terminal.on('resize', resize);
  const pause = () => {
    drawing.pause();
    modes.leave();
  };
  const resume = () => {
    if (!isOpen) return;
    modes.enter();
    drawing.resume();
    resize();
  };
  const lend = lender(keys, pause, resume);
  const value = { onKey: subscribe(listeners), onResize: subscribe(resizeListeners), exit: close, lend };
  reconciler.updateContainerSync(createElement(controls, { value }, app), container, null);
  reconciler.flushSyncWork();
  reconciler.flushPassiveEffects();
  return { ended, close, pause, resume };
}

const legacyRoot = 0;

const ignore = () => undefined;

function containerFor(root: Root, fail: (error: unknown) => void) {
  return reconciler.createContainer(root, legacyRoot, null, false, null, 'lathe', fail, fail, ignore, ignore);
}

function lender(keys: Keys, pause: () => void, resume: () => void): Controls['lend'] {
  return (work) => {
    pause();
    keys.release?.();
    return work().finally(() => {
      keys.resume?.();
      resume();
    });
  };
}

const subscribe =
  <L>(listeners: Set<L>) =>
  (listener: L) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };

/** Draws the nodes on the terminal. */
class Drawing {
  readonly #terminal: Terminal;
  readonly #area = new LiveArea();
  readonly #column: ColumnNode = { type: 'lathe-column', children: [], frame: undefined };
  /** The number of scrollback items already written. */
  #written = 0;
  #isDue = false;
  #isPaused = false;
  #isFinished = false;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  get root(): Root {
    // At the end of this turn, because a layout effect may change something first.
    const onChange = () => {
      if (this.#isDue) return;
      this.#isDue = true;
      queueMicrotask(() => this.draw());
    };
    return { column: this.#column, onChange };
  }

  /** Takes the live area away. */
  clear(): void {
    this.#terminal.write(this.#area.clear(this.#width));
  }

  pause(): void {
    this.clear();
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
  }

  /** Draws the last changes of the scrollback, takes the live area away and then leaves the terminal alone. */
  finish(): void {
    this.draw();
    this.clear();
    this.#isFinished = true;
  }

  get #width(): number {
    return this.#terminal.columns || 80;
  }

  draw(): void {
    this.#isDue = false;
    if (this.#isFinished || this.#isPaused) return;
    // Only text and colours may reach the terminal, whatever a component renders.
    const lines = linesOf(this.#column, this.#width).map(sanitizeOutput);
    const frame = this.#area.frame(lines, this.#newScrollback().map(sanitizeOutput));
    if (frame !== '') this.#terminal.write(frame);
  }

  #newScrollback(): string[] {
    const scrollback = this.#column.children.find((node): node is ScrollbackNode => node.type === 'lathe-scrollback');
    if (!scrollback) return [];
    const from = Math.min(this.#written, scrollback.count);
    this.#written = scrollback.count;
    const indexes = Array.from({ length: scrollback.count - from }, (_, index) => from + index);
    return indexes.flatMap((index) => wrapLines(scrollback.textAt(index), this.#width));
  }
}
