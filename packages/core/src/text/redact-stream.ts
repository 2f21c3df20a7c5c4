import { redact } from './redact.js';

/** A longer line without an end is cut between words, so that memory stays bounded. */
const maxHeldChars = 64 * 1024;
/** A longer word is data, not a token. */
const maxWordChars = 1_000;
/** As in `redact`: a longer key block is no key. */
const maxKeyChars = 10_200;

/**
 * `redact` for text that arrives in pieces. Holds back what may be half of a secret: the line that has not ended yet, and
 * a private key without its end.
 */
export class RedactStream {
  readonly #secrets: readonly string[];
  /** Secrets that span lines, and the length of the longest one. */
  readonly #multiline: readonly string[];
  readonly #overlap: number;
  #held = '';

  constructor(secrets: readonly string[] = []) {
    this.#secrets = secrets;
    this.#multiline = secrets.filter((secret) => secret.includes('\n'));
    this.#overlap = Math.max(0, ...this.#multiline.map(({ length }) => length));
  }

  /** Adds a piece and returns what is ready, redacted. */
  push(piece: string): string {
    this.#held += piece;
    // Looking at everything held for each byte of a long line would take quadratic time.
    if (this.#held.length < maxHeldChars && !piece.includes('\n')) return '';
    return this.#take(this.#readyEnd());
  }

  /** The rest, whether or not its line has ended. */
  flush(): string {
    return this.#take(this.#held.length);
  }

  #take(end: number): string {
    const ready = this.#held.slice(0, end);
    this.#held = this.#held.slice(end);
    return ready === '' ? '' : redact(ready, this.#secrets);
  }

  #readyEnd(): number {
    const held = this.#held;
    const lines = held.lastIndexOf('\n', held.length - 1 - this.#overlap) + 1;
    const end = Math.min(keyStartBefore(lines, held), ...this.#multiline.map((secret) => before(secret, lines, held)));
    if (end > 0 || held.length < maxHeldChars) return end;
    const word = held.length - (/[\w.~+/=-]{0,1000}$/.exec(held.slice(-maxWordChars))?.[0].length ?? 0);
    return word > held.length - maxWordChars ? word : held.length;
  }
}

/** The end of what is ready, moved before a secret that would be cut in two. */
function before(secret: string, end: number, text: string): number {
  const start = end === 0 ? -1 : text.lastIndexOf(secret, end - 1);
  return start >= 0 && start + secret.length > end ? start : end;
}

/** The end of what is ready, moved before a private key that would be cut in two. */
function keyStartBefore(end: number, text: string): number {
  const start = end === 0 ? -1 : text.lastIndexOf('-----BEGIN ', end - 1);
  if (start < 0 || text.length - start > maxKeyChars) return end;
  const block = text.slice(start, end);
  return keyBegin.test(block) && !keyEnd.test(block) ? start : end;
}

const keyBegin = /^-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----/;
const keyEnd = /-----END [A-Z ]{0,40}PRIVATE KEY-----/;
