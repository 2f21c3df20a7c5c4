import { createHash } from 'node:crypto';
import type { CallOutcome, CallRequest } from '@lathe/core';

export type LoopVerdict = 'fine' | 'warn' | 'stop';

const warnAfter = 3;
const stopAfter = 5;
/** The longest cycle to detect: A A A, or A B A B, or A B C A B C … */
const longestCycle = 4;

/**
 * Detects a model that repeats itself: the same calls with the same results, turn after turn or in a cycle of a few
 * turns. Whole turns are compared, so reading many files at once, or running the same test after every edit, is fine.
 */
export class LoopGuard {
  readonly #turns: string[] = [];

  /** Adds a turn. Warns in the third round and stops in the fifth. */
  add(requests: readonly CallRequest[], outcomes: readonly CallOutcome[]): LoopVerdict {
    this.#turns.push(fingerprint(requests, outcomes));
    if (this.#turns.length > longestCycle * stopAfter) this.#turns.shift();
    for (let length = 1; length <= longestCycle; length++) {
      const repeated = this.#repeated(length);
      const rounds = Math.floor(repeated / length) + 1;
      if (rounds >= stopAfter) return 'stop';
      // Only the turn that completes a round warns, so there is one warning.
      if (rounds === warnAfter && repeated % length === 0) return 'warn';
    }
    return 'fine';
  }

  /** For a new prompt of a person. */
  reset(): void {
    this.#turns.length = 0;
  }

  /** How many of the last turns equal the one `length` turns earlier. */
  #repeated(length: number): number {
    let count = 0;
    for (let index = this.#turns.length - 1; index >= length; index--) {
      if (this.#turns[index] !== this.#turns[index - length]) break;
      count += 1;
    }
    return count;
  }
}

function fingerprint(requests: readonly CallRequest[], outcomes: readonly CallOutcome[]): string {
  const seen = new Set<string>();
  for (const [index, { name, args }] of requests.entries())
    seen.add(JSON.stringify([name, args, outcomes[index]?.response.response]));
  return createHash('sha256')
    .update([...seen].sort().join('\n'))
    .digest('base64');
}

/** Text that repeats itself for this long does not stop by itself. */
const repeatedCharacters = 4_000;
const longestPhrase = 400;

/** Detects an answer that repeats the same phrase over and over. */
export class EchoGuard {
  #text = '';

  /** True once the last few thousand characters are one phrase, repeated. */
  add(text: string): boolean {
    this.#text += text;
    if (this.#text.length < 2 * repeatedCharacters) return false;
    this.#text = this.#text.slice(-repeatedCharacters);
    return periodOf(this.#text) <= longestPhrase;
  }
}

/** The length of the shortest phrase that the text repeats from beginning to end. */
function periodOf(text: string): number {
  const border = new Uint16Array(text.length);
  let matched = 0;
  for (let index = 1; index < text.length; index++) {
    while (matched > 0 && text[index] !== text[matched]) matched = border[matched - 1] ?? 0;
    if (text[index] === text[matched]) matched += 1;
    border[index] = matched;
  }
  return text.length - matched;
}
