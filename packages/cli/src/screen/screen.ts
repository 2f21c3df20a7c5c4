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
  exit: () => void;
}

const controls = createContext<Controls>({ onKey: () => () => undefined, exit: () => undefined });

/** Calls the listener for every key. */
export function useInput(listener: KeyListener): void {
  const latest = useRef(listener);
  latest.current = listener;
  const { onKey } = useContext(controls);
  useEffect(() => onKey((input, key) => latest.current(input, key)), [onKey]);
}

/** A function that closes the screen. */
export function useExit(): () => void {
  return useContext(controls).exit;
}

export interface OpenScreen {
  /** Resolves when the screen is closed; rejects with an error of a component. */
  ended: Promise<void>;
  close: () => void;
  /** Redraws everything, for example after another program used the terminal. */
  redraw: () => void;
}

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
}

/** Renders components on the last lines of a terminal and passes keys to them until one of them or the caller closes it. */
export function openScreen(app: ReactNode, terminal: Terminal, keys: Keys): OpenScreen {
  const drawing = new Drawing(terminal);
  let listeners: readonly KeyListener[] = [];
  let isOpen = true;
  const ending = new EventEmitter<{ end: []; error: [unknown] }>();
  const ended = once(ending, 'end').then(() => undefined);
  const fail = (error: unknown) => {
    if (isOpen) ending.emit('error', error);
    close();
  };
  const container = reconciler.createContainer(
    drawing.root,
    legacyRoot,
    null,
    false,
    null,
    'lathe',
    fail,
    fail,
    () => undefined,
    () => undefined,
  );
  const press = (sent: string) => {
    const { input, key } = keyOf(sent);
    withInputPriority(() => {
      for (const listener of listeners) listener(input, key);
    });
  };
  const close = () => {
    if (!isOpen) return;
    // Draws what the last key changed.
    reconciler.flushSyncWork();
    isOpen = false;
    drawing.finish();
    keys.off('key', press);
    terminal.off('resize', drawing.onResize);
    reconciler.updateContainerSync(null, container, null);
    reconciler.flushSyncWork();
    ending.emit('end');
  };
  keys.on('key', press);
  terminal.on('resize', drawing.onResize);
  const onKey = (listener: KeyListener) => {
    listeners = [...listeners, listener];
    return () => {
      listeners = listeners.filter((known) => known !== listener);
    };
  };
  reconciler.updateContainerSync(createElement(controls, { value: { onKey, exit: close } }, app), container, null);
  reconciler.flushSyncWork();
  reconciler.flushPassiveEffects();
  return { ended, close, redraw: drawing.onResize };
}

const legacyRoot = 0;

/** Draws the nodes on the terminal. */
class Drawing {
  readonly #terminal: Terminal;
  readonly #area = new LiveArea();
  readonly #column: ColumnNode = { type: 'lathe-column', children: [], frame: undefined };
  /** The number of scrollback items already written. */
  #written = 0;
  #isDue = false;
  #isFinished = false;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  get root(): Root {
    // At the end of this turn, because a layout effect may change something first.
    const onChange = () => {
      if (this.#isDue) return;
      this.#isDue = true;
      queueMicrotask(() => this.#draw());
    };
    return { column: this.#column, onChange };
  }

  readonly onResize = (): void => {
    this.#terminal.write(this.#area.clear(this.#width));
    this.#draw();
  };

  /** Draws the last changes and then leaves the terminal alone. */
  finish(): void {
    this.#draw();
    this.#isFinished = true;
  }

  get #width(): number {
    return this.#terminal.columns || 80;
  }

  #draw(): void {
    this.#isDue = false;
    if (this.#isFinished) return;
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
