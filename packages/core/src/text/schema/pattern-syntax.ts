/** A set of characters: one bit per ASCII character, and bit 128 for all others together. */
type CharacterSet = bigint;

export type Sequence = readonly Term[];

/** The structure of a regular expression, as far as its running time depends on it. */
export type Term =
  | { kind: 'character'; set: CharacterSet }
  | { kind: 'anchor'; source: string }
  | { kind: 'group'; alternatives: readonly Sequence[]; isLook: boolean }
  | { kind: 'repeat'; body: Term; min: number; max: number };

const maxNesting = 30;
const others = 1n << 128n;

/** The alternatives of a valid pattern, or why it cannot be analyzed. */
export function parsePattern(source: string): readonly Sequence[] | string {
  const parser = new Parser(source);
  try {
    return parser.alternatives(0);
  } catch (error) {
    return error instanceof Unsupported ? error.message : 'cannot be parsed';
  }
}

export function anyOverlap(a: CharacterSet, b: CharacterSet): boolean {
  return (a & b) !== 0n;
}

export function isNullable(term: Term): boolean {
  if (term.kind === 'character') return false;
  if (term.kind === 'anchor') return true;
  if (term.kind === 'repeat') return term.min === 0 || isNullable(term.body);
  return term.isLook || term.alternatives.some((sequence) => sequence.every(isNullable));
}

/** The characters a match of `sequence` can begin with; those of `after` too when it can be empty. */
export function firstOf(sequence: Sequence, after: CharacterSet): CharacterSet {
  let set = 0n;
  for (const term of sequence) {
    set |= firstOfTerm(term);
    if (!isNullable(term)) return set;
  }
  return set | after;
}

function firstOfTerm(term: Term): CharacterSet {
  if (term.kind === 'character') return term.set;
  if (term.kind === 'repeat') return firstOfTerm(term.body);
  if (term.kind === 'anchor' || term.isLook) return 0n;
  return term.alternatives.reduce((set, sequence) => set | firstOf(sequence, 0n), 0n);
}

class Unsupported extends Error {}

class Parser {
  readonly #source: string;
  #at = 0;

  constructor(source: string) {
    this.#source = source;
  }

  alternatives(depth: number): Sequence[] {
    if (depth > maxNesting) throw new Unsupported('is nested too deeply');
    const found: Term[][] = [[]];
    while (this.#at < this.#source.length && this.#source[this.#at] !== ')') {
      if (this.#take(/\|/y) !== null) found.push([]);
      else found.at(-1)?.push(this.#quantified(this.#term(depth)));
    }
    return found;
  }

  #term(depth: number): Term {
    const anchor = this.#take(/[$^]|\\[bB]/y);
    if (anchor !== null) return { kind: 'anchor', source: anchor };
    if (this.#take(/\\(?:[1-9]|k<)/y) !== null) throw new Unsupported('uses a backreference');
    const open = this.#take(/\((?:\?(?:[:=!]|<[=!]|<\w+>))?/y);
    if (open !== null) {
      const alternatives = this.alternatives(depth + 1);
      if (this.#take(/\)/y) === null) throw new Unsupported('cannot be parsed');
      return { kind: 'group', alternatives, isLook: /[=!]$/.test(open) };
    }
    const atom = this.#take(
      /\[(?:\\[^]|[^\]\\])*\]|\\(?:u\{[\da-fA-F]+\}|u[\da-fA-F]{4}|x[\da-fA-F]{2}|[pP]\{[^}]*\}|c[a-zA-Z]|[^])|[^]/uy,
    );
    if (atom === null) throw new Unsupported('cannot be parsed');
    return { kind: 'character', set: setOf(atom) };
  }

  #quantified(body: Term): Term {
    const quantifier = this.#take(/(?:[*+?]|\{\d+(?:,\d*)?\})\??/y);
    if (quantifier === null) return body;
    const [, least, comma, most] = /^\{(\d+)(,?)(\d*)\}/.exec(quantifier) ?? [];
    if (least !== undefined) {
      const min = Number(least);
      return {
        kind: 'repeat',
        body,
        min,
        max: comma === '' ? min : most === '' ? Number.POSITIVE_INFINITY : Number(most),
      };
    }
    const max = quantifier.startsWith('?') ? 1 : Number.POSITIVE_INFINITY;
    return { kind: 'repeat', body, min: quantifier.startsWith('+') ? 1 : 0, max };
  }

  #take(sticky: RegExp): string | null {
    sticky.lastIndex = this.#at;
    const text = sticky.exec(this.#source)?.[0];
    if (text === undefined || text === '') return null;
    this.#at += text.length;
    return text;
  }
}

/** The characters that a class, escape or character matches, found with the regular expression engine itself. */
function setOf(atom: string): CharacterSet {
  let expression: RegExp;
  try {
    expression = new RegExp(`^(?:${atom})$`, 'u');
  } catch {
    expression = new RegExp(`^(?:${atom})$`);
  }
  const samples = ['é', 'ſ', '中', '😀', '\u2028', '\u00A0'];
  const isWide = /\P{ASCII}|\\[uxpPc]/u.test(atom) || samples.some((text) => expression.test(text));
  let set = isWide ? others : 0n;
  for (let code = 0; code < 128; code++) if (expression.test(String.fromCharCode(code))) set |= 1n << BigInt(code);
  return set;
}
