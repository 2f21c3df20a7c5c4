import { EventEmitter } from 'node:events';

/** Stands before pasted text, so that a paste is never taken for a key. A private character no keyboard types. */
export const pasteMark = '\uE000';
/** Stands for an escape character in pasted text, which would otherwise be taken for the beginning of a key. */
const escapeMark = '\uE001';

/** The text of a paste; `undefined` for a key. */
export function pastedText(input: string): string | undefined {
  return input.startsWith(pasteMark) ? input.slice(1).replaceAll(escapeMark, '\u001b') : undefined;
}

export const enablePaste = '\u001b[?2004h';
export const disablePaste = '\u001b[?2004l';

const pasteStart = '\u001b[200~';
const pasteEnd = '\u001b[201~';

/**
 * Cuts what a terminal sends into keys: Enter after fast typing is a key of its own, and a paste is one piece, marked
 * as such and never a key, however many line ends it has.
 */
export class KeySplitter {
  #pasted: string | undefined;
  #rest = '';

  split(data: string): string[] {
    const keys: string[] = [];
    let text = this.#rest + data;
    this.#rest = '';
    while (text !== '') {
      const marker = this.#pasted === undefined ? pasteStart : pasteEnd;
      const at = text.indexOf(marker);
      const whole = at === -1 ? text.length - beginningOf(marker, text) : at;
      const part = text.slice(0, whole);
      if (this.#pasted === undefined) keys.push(...keysOf(part));
      else this.#pasted += part;
      if (at === -1) {
        this.#rest = text.slice(whole);
        break;
      }
      text = text.slice(at + marker.length);
      if (this.#pasted === undefined) this.#pasted = '';
      else {
        keys.push(pasteMark + this.#pasted.replace(/\r\n?/g, '\n').replaceAll('\u001b', escapeMark));
        this.#pasted = undefined;
      }
    }
    return keys;
  }
}

/** How much of a marker the text ends with: it may arrive in pieces. The first two characters alone may be a key. */
function beginningOf(marker: string, text: string): number {
  const least = marker === pasteStart ? 3 : 1;
  for (let length = marker.length - 1; length >= least; length--)
    if (text.endsWith(marker.slice(0, length))) return length;
  return 0;
}

/**
 * A key is a control character, a sequence that begins with escape, or escape alone; everything else stays together.
 * Backspace is one byte, whatever the terminal sends.
 */
const key =
  // oxlint-disable-next-line no-control-regex -- control characters are what this is about
  /\u001b{1,2}(?:\[[\d;:]*[ -/]*[@-~]|O[A-Za-z])|\u001b[^[\u001b]|\u001b\u001b|[\u0000-\u001f]|[^\u0000-\u001f]+/g;

function keysOf(text: string): string[] {
  return text.replaceAll('\u007f', '\b').match(key) ?? [];
}

/** A terminal's input: one `key` event per key, and `end` when the terminal is gone. */
export class KeyStream extends EventEmitter<{ key: [string]; end: [] }> {
  readonly #terminal: NodeJS.ReadStream;
  readonly #splitter = new KeySplitter();
  readonly #onData = (data: Buffer | string) => {
    for (const one of this.#splitter.split(String(data))) this.emit('key', one);
  };

  constructor(terminal: NodeJS.ReadStream) {
    super();
    this.#terminal = terminal;
    terminal.setEncoding('utf8');
    terminal.once('end', () => this.emit('end'));
    // The mode of a terminal that is gone cannot be set back.
    terminal.on('error', () => this.emit('end'));
    this.resumeKeys();
  }

  setRawMode(isRaw: boolean): this {
    this.#terminal.setRawMode(isRaw);
    return this;
  }

  /** Leaves the terminal to others: an editor, for example. */
  release(): void {
    this.#terminal.off('data', this.#onData);
    this.#terminal.pause();
  }

  /** Listens again. A stream that somebody has paused does not flow for a new listener by itself. */
  resumeKeys(): void {
    this.#terminal.on('data', this.#onData);
    this.#terminal.resume();
  }
}
