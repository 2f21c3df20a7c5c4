import { EventEmitter } from 'node:events';

/** Precedes pasted text, so that a paste is never handled as a key. A private-use character that no keyboard sends. */
export const pastePrefix = '\uE000';
/** Replaces the escape character in pasted text, which would otherwise start a key sequence. */
const escapeSubstitute = '\uE001';

/** The pasted text; `undefined` for a key. */
export function pastedText(input: string): string | undefined {
  return input.startsWith(pastePrefix) ? input.slice(1).replaceAll(escapeSubstitute, '\u001b') : undefined;
}

export const enablePaste = '\u001b[?2004h';
export const disablePaste = '\u001b[?2004l';

const pasteStart = '\u001b[200~';
const pasteEnd = '\u001b[201~';

/** Splits terminal input into keys. A paste is one item with a prefix, however many line breaks it has. */
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
      const whole = at === -1 ? text.length - partialMarker(marker, text) : at;
      const part = text.slice(0, whole);
      const late = this.#pasted === undefined && at === -1 ? partialReply(part) : 0;
      if (this.#pasted === undefined) keys.push(...keysOf(part.slice(0, part.length - late)));
      else this.#pasted += part;
      if (at === -1) {
        this.#rest = text.slice(whole - late);
        break;
      }
      text = text.slice(at + marker.length);
      if (this.#pasted === undefined) this.#pasted = '';
      else {
        keys.push(pastePrefix + this.#pasted.replace(/\r\n?/g, '\n').replaceAll('\u001b', escapeSubstitute));
        this.#pasted = undefined;
      }
    }
    return keys;
  }
}

/** How many characters of a marker the text ends with, since it may arrive in pieces. Its first two characters may be a key. */
function partialMarker(marker: string, text: string): number {
  const least = marker === pasteStart ? 3 : 1;
  for (let length = marker.length - 1; length >= least; length--)
    if (text.endsWith(marker.slice(0, length))) return length;
  return 0;
}

/** A key is a control character, an escape sequence, or escape alone. Other text stays together. */
const key =
  // oxlint-disable-next-line no-control-regex -- control characters are what this matches
  /\u001b{1,2}(?:\[[\d;:]*[ -/]*[@-~]|O[A-Za-z])|\u001b[^[\u001b]|\u001b\u001b|[\u0000-\u001f]|[^\u0000-\u001f]+/g;

function keysOf(text: string): string[] {
  return text.replace(replies, '').replaceAll('\u007f', '\b').match(key) ?? [];
}

// oxlint-disable no-control-regex -- control characters are what these match
/** Late answers of a terminal to our questions about its background. They are not keys. */
const replies = /\u001b\][^\u0007\u001b]{0,100}(?:\u0007|\u001b\\)|\u001b\[\?[\d;]*c/g;
const openReply = /\u001b\]\d[^\u0007\u001b]{0,100}\u001b?$/;
// oxlint-enable no-control-regex

/** How many characters at the end of the text belong to an answer that has not arrived completely. */
function partialReply(text: string): number {
  return openReply.exec(text)?.[0].length ?? 0;
}

/** Terminal input: one `key` event per key, and `end` when the terminal closes. */
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
    // Resetting the mode of a closed terminal fails.
    terminal.on('error', () => this.emit('end'));
    this.resume();
  }

  setRawMode(isRaw: boolean): this {
    this.#terminal.setRawMode(isRaw);
    return this;
  }

  /** Stops reading, for example while an editor uses the terminal. */
  release(): void {
    this.#terminal.off('data', this.#onData);
    this.#terminal.pause();
  }

  /** Reads again, if it was released. A paused stream does not restart by itself for a new listener. */
  resume(): void {
    this.#terminal.off('data', this.#onData).on('data', this.#onData);
    this.#terminal.resume();
  }
}
