/** A set of characters: one bit per ASCII character, and bit 128 for all others together. */
type CharacterSet = bigint;

export type Sequence = readonly Term[];

/** The structure of a regular expression, without captures and without which match is preferred. */
export type Term =
  | { kind: 'character'; set: CharacterSet; matches: (character: string) => boolean }
  | { kind: 'anchor'; source: '^' | '$' | '\\b' | '\\B' }
  | { kind: 'group'; alternatives: readonly Sequence[]; look: '=' | '!' | '<=' | '<!' | undefined }
  | { kind: 'repeat'; body: Term; min: number; max: number };

const maxNesting = 30;
const others = 1n << 128n;

/** The alternatives of a valid pattern; `undefined` if it uses a backreference or other syntax that is not supported. */
export function parsePattern(source: string, { isUnicode }: { isUnicode: boolean }): readonly Sequence[] | undefined {
  // Outside of Unicode mode these have other meanings, which depend on what follows.
  if (!isUnicode && /\\(?:\d|[ckpP]|u\{|u[dD])|[^\0-\uFFFF]/u.test(source)) return undefined;
  const parser = new Parser(source, isUnicode ? 'u' : '');
  try {
    return parser.alternatives(0);
  } catch (error) {
    if (error instanceof Unsupported) return undefined;
    throw error;
  }
}

export function anyOverlap(a: CharacterSet, b: CharacterSet): boolean {
  return (a & b) !== 0n;
}

export function isNullable(term: Term): boolean {
  if (term.kind === 'character') return false;
  if (term.kind === 'anchor') return true;
  if (term.kind === 'repeat') return term.min === 0 || isNullable(term.body);
  return term.look !== undefined || term.alternatives.some((sequence) => sequence.every(isNullable));
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
  if (term.kind === 'anchor' || term.look) return 0n;
  return term.alternatives.reduce((set, sequence) => set | firstOf(sequence, 0n), 0n);
}

class Unsupported extends Error {}

class Parser {
  readonly #source: string;
  readonly #flags: string;
  readonly #atoms = new Map<string, Term>();
  #at = 0;

  constructor(source: string, flags: string) {
    this.#source = source;
    this.#flags = flags;
  }

  alternatives(depth: number): Sequence[] {
    if (depth > maxNesting) throw new Unsupported();
    const found: Term[][] = [[]];
    while (this.#at < this.#source.length && this.#source[this.#at] !== ')') {
      if (this.#takeText('|')) found.push([]);
      else found.at(-1)?.push(this.#quantified(this.#term(depth)));
    }
    return found;
  }

  #term(depth: number): Term {
    for (const source of ['^', '$', '\\b', '\\B'] as const)
      if (this.#takeText(source)) return { kind: 'anchor', source };
    if (this.#take(/\\(?:[1-9]|k<)/y) !== null) throw new Unsupported();
    if (this.#takeText('(')) {
      const look = (['=', '!', '<=', '<!'] as const).find((kind) => this.#takeText(`?${kind}`));
      if (!look && this.#take(/\?(?::|<\w+>)/y) === null && this.#takeText('?')) throw new Unsupported();
      const alternatives = this.alternatives(depth + 1);
      if (!this.#takeText(')')) throw new Unsupported();
      return { kind: 'group', alternatives, look };
    }
    const atom = this.#take(
      /\[(?:\\[^]|[^\]\\])*\]|\\(?:u\{[\da-fA-F]+\}|u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|u[\da-fA-F]{4}|x[\da-fA-F]{2}|[pP]\{[^}]*\}|c[a-zA-Z]|[^])|[^]/uy,
    );
    if (atom === null) throw new Unsupported();
    const term = this.#atoms.get(atom) ?? { kind: 'character', ...matcherOf(atom, this.#flags) };
    this.#atoms.set(atom, term);
    return term;
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

  #takeText(text: string): boolean {
    if (!this.#source.startsWith(text, this.#at)) return false;
    this.#at += text.length;
    return true;
  }

  #take(sticky: RegExp): string | null {
    sticky.lastIndex = this.#at;
    const text = sticky.exec(this.#source)?.[0];
    if (text === undefined || text === '') return null;
    this.#at += text.length;
    return text;
  }
}

/** Which characters a class, escape or character matches, found with the regular expression engine itself. */
function matcherOf(atom: string, flags: string): Pick<Extract<Term, { kind: 'character' }>, 'set' | 'matches'> {
  const expression = new RegExp(`^(?:${atom})$`, flags);
  const samples = ['é', 'ſ', '中', '😀', '\u2028', '\u00A0'];
  const isWide = /\P{ASCII}|\\[uxpPc]/u.test(atom) || samples.some((text) => expression.test(text));
  let set = isWide ? others : 0n;
  const ascii = Array.from({ length: 128 }, (_, code) => expression.test(String.fromCharCode(code)));
  for (const [code, isIn] of ascii.entries()) if (isIn) set |= 1n << BigInt(code);
  return { set, matches: (character) => ascii[character.charCodeAt(0)] ?? expression.test(character) };
}
