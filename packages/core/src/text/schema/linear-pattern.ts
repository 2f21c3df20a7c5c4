import type { Sequence, Term } from './pattern-syntax.js';

/** Tests texts in time proportional to their length, whatever the pattern. */
export interface LinearPattern {
  /** How many states a step of a text can touch. */
  size: number;
  test(text: string): boolean;
}

type State =
  | { kind: 'character'; matches: (character: string) => boolean; next: number }
  | { kind: 'assert'; holds: Assertion; next: number }
  | { kind: 'split'; next: number; other: number }
  | { kind: 'end' };

type Assertion = (text: Text, at: number) => boolean;

interface Program {
  states: readonly State[];
  start: number;
}

/** The characters of a text, and where each look-around of the pattern holds in it. */
interface Text {
  characters: readonly string[];
  looks: Map<Program, Uint8Array>;
}

const maxStates = 5_000;

/**
 * Compiles a pattern to a nondeterministic automaton and follows all of its states at once (Thompson), so nothing
 * backtracks. Where a look-around holds is found for all positions in one such run: backwards for a lookahead.
 * `undefined` when the repetitions of the pattern make too many states.
 */
export function linearPattern(
  alternatives: readonly Sequence[],
  { isUnicode }: { isUnicode: boolean },
): LinearPattern | undefined {
  const compiler = new Compiler();
  const program = compiler.program(alternatives, false);
  if (program === undefined) return undefined;
  return {
    size: compiler.size,
    test(text) {
      const characters = isUnicode ? Array.from(text) : text.split('');
      return endsOf(program, { characters, looks: new Map() }, false).includes(1);
    },
  };
}

class TooLarge extends Error {}

/** Builds states from the end to the start: each part is given the state that follows it. */
class Compiler {
  size = 0;
  #states: State[] = [];
  #isBackwards = false;

  program(alternatives: readonly Sequence[], isBackwards: boolean): Program | undefined {
    try {
      return this.#program(alternatives, isBackwards);
    } catch (error) {
      if (error instanceof TooLarge) return undefined;
      throw error;
    }
  }

  #program(alternatives: readonly Sequence[], isBackwards: boolean): Program {
    const outer = { states: this.#states, isBackwards: this.#isBackwards };
    this.#states = [];
    this.#isBackwards = isBackwards;
    const start = this.#choice(alternatives, this.#add({ kind: 'end' }));
    const program = { states: this.#states, start };
    this.#states = outer.states;
    this.#isBackwards = outer.isBackwards;
    return program;
  }

  #add(state: State): number {
    this.#grow();
    return this.#states.push(state) - 1;
  }

  #grow(): void {
    if (++this.size > maxStates) throw new TooLarge();
  }

  #choice(alternatives: readonly Sequence[], next: number): number {
    return alternatives
      .map((sequence) => this.#sequence(sequence, next))
      .reduceRight((other, start) => this.#add({ kind: 'split', next: start, other }));
  }

  #sequence(sequence: Sequence, next: number): number {
    const terms = this.#isBackwards ? sequence : sequence.toReversed();
    return terms.reduce((following, term) => this.#term(term, following), next);
  }

  #term(term: Term, next: number): number {
    switch (term.kind) {
      case 'character':
        return this.#add({ kind: 'character', matches: term.matches, next });
      case 'anchor':
        return this.#add({ kind: 'assert', holds: anchors[term.source], next });
      case 'group':
        if (!term.look) return this.#choice(term.alternatives, next);
        return this.#add({ kind: 'assert', holds: this.#look(term.alternatives, term.look), next });
      case 'repeat':
        return this.#repeat(term, next);
    }
  }

  #look(alternatives: readonly Sequence[], look: string): Assertion {
    const isBackwards = !look.startsWith('<');
    const program = this.#program(alternatives, isBackwards);
    const wanted = look.endsWith('=') ? 1 : 0;
    return (text, at) => {
      const known = text.looks.get(program) ?? endsOf(program, text, isBackwards);
      text.looks.set(program, known);
      return known[at] === wanted;
    };
  }

  #repeat({ body, min, max }: Extract<Term, { kind: 'repeat' }>, next: number): number {
    let start = next;
    if (max === Number.POSITIVE_INFINITY) {
      start = this.#add({ kind: 'split', next, other: next });
      const again = this.#term(body, start);
      this.#states[start] = { kind: 'split', next: again, other: next };
      if (min > 0) start = again;
    } else {
      for (let count = min; count < max; count++)
        start = this.#add({ kind: 'split', next: this.#term(body, start), other: next });
    }
    for (let count = max === Number.POSITIVE_INFINITY ? 1 : 0; count < min; count++) {
      // An empty body adds no state, but its copies take time too.
      this.#grow();
      start = this.#term(body, start);
    }
    return start;
  }
}

/** A 1 for each position where a match ends that begins anywhere. */
function endsOf({ states, start }: Program, text: Text, isBackwards: boolean): Uint8Array {
  const { characters } = text;
  const ends = new Uint8Array(characters.length + 1);
  const reachedAt = new Int32Array(states.length).fill(-1);
  let waiting: number[] = [];
  for (let step = 0; step <= characters.length; step++) {
    const at = isBackwards ? characters.length - step : step;
    const character = characters[isBackwards ? at - 1 : at];
    const open = [...waiting, start];
    waiting = [];
    for (let index = open.pop(); index !== undefined; index = open.pop()) {
      const state = states[index];
      if (state === undefined || reachedAt[index] === step) continue;
      reachedAt[index] = step;
      if (state.kind === 'end') ends[at] = 1;
      else if (state.kind === 'split') open.push(state.next, state.other);
      else if (state.kind === 'assert') {
        if (state.holds(text, at)) open.push(state.next);
      } else if (character !== undefined && state.matches(character)) waiting.push(state.next);
    }
  }
  return ends;
}

const anchors: Record<'^' | '$' | '\\b' | '\\B', Assertion> = {
  '^': (_, at) => at === 0,
  $: ({ characters }, at) => at === characters.length,
  '\\b': (text, at) => isWord(text, at - 1) !== isWord(text, at),
  '\\B': (text, at) => isWord(text, at - 1) === isWord(text, at),
};

function isWord({ characters }: Text, at: number): boolean {
  return /^\w$/.test(characters[at] ?? '');
}
