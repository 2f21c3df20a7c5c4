import { EventEmitter, once } from 'node:events';
import { createContext, createElement, type ReactNode, useContext, useEffect, useRef } from 'react';
import { inertOutput } from '../command-line/sanitize-output.js';
import { wrapLines } from '../render/lines.js';
import { type Key, keyOf } from './keys.js';
import { LiveArea } from './live-area.js';
import { type ColumnNode, linesOf, type PastNode } from './nodes.js';
import { atOnce, type Root, reconciler } from './reconciler.js';

type KeyListener = (input: string, key: Key) => void;

interface Controls {
  onKey: (listener: KeyListener) => () => void;
  exit: () => void;
}

const controls = createContext<Controls>({ onKey: () => () => undefined, exit: () => undefined });

/** Calls back with every key that is pressed. */
export function useInput(listener: KeyListener): void {
  const latest = useRef(listener);
  latest.current = listener;
  const { onKey } = useContext(controls);
  useEffect(() => onKey((input, key) => latest.current(input, key)), [onKey]);
}

/** Ends what is shown. */
export function useExit(): () => void {
  return useContext(controls).exit;
}

export interface OpenScreen {
  /** Settles when it is over; rejects with what a component threw. */
  ended: Promise<void>;
  close: () => void;
  /** Draws everything once more, as after somebody else had the terminal. */
  redraw: () => void;
}

/** Where it is drawn: what is used of a terminal. */
interface Terminal {
  readonly columns: number;
  write(text: string): unknown;
  on(event: 'resize', listener: () => void): unknown;
  off(event: 'resize', listener: () => void): unknown;
}

/** Emits what the terminal sends for a key, one at a time. */
interface Keys {
  on(event: 'key', listener: (sent: string) => void): unknown;
  off(event: 'key', listener: (sent: string) => void): unknown;
}

/** Draws components on the last lines of a terminal and gives them its keys, until one of them or the caller ends it. */
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
    atOnce(() => {
      for (const listener of listeners) listener(input, key);
    });
  };
  const close = () => {
    if (!isOpen) return;
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

/** Keeps the terminal as the nodes are. */
class Drawing {
  readonly #terminal: Terminal;
  readonly #area = new LiveArea();
  readonly #column: ColumnNode = { type: 'lathe-column', children: [], frame: undefined };
  /** How much of the past is written. */
  #written = 0;
  #isDue = false;
  #isOver = false;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  get root(): Root {
    // Later in this turn, for a layout may change something at once.
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

  /** Draws what is not drawn yet; after this the terminal is somebody else's. */
  finish(): void {
    this.#draw();
    this.#isOver = true;
  }

  get #width(): number {
    return this.#terminal.columns || 80;
  }

  #draw(): void {
    this.#isDue = false;
    if (this.#isOver) return;
    // Whatever a component shows, nothing but text and colours passes here.
    const lines = linesOf(this.#column, this.#width).map(inertOutput);
    const frame = this.#area.frame(lines, this.#newPast().map(inertOutput));
    if (frame !== '') this.#terminal.write(frame);
  }

  #newPast(): string[] {
    const past = this.#column.children.find((node): node is PastNode => node.type === 'lathe-past');
    if (!past) return [];
    const from = Math.min(this.#written, past.count);
    this.#written = past.count;
    const indexes = Array.from({ length: past.count - from }, (_, index) => from + index);
    return indexes.flatMap((index) => wrapLines(past.textAt(index), this.#width));
  }
}
