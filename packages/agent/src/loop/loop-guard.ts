import { createHash } from 'node:crypto';
import type { CallOutcome, CallRequest } from '@lathe/core';

export type LoopVerdict = 'fine' | 'warn' | 'stop';

const warnAfter = 3;
const stopAfter = 5;
/** Longest cycle that is looked for: A, A, A or A B A B or A B C A B C … */
const longestCycle = 4;

/**
 * Notices a model that runs in circles: the same calls with the same results, turn after turn, alone or in a cycle of a
 * few turns. A turn is compared as a whole, so reading many files at once, or running the same test after every edit,
 * is no alarm.
 */
export class LoopGuard {
  readonly #turns: string[] = [];

  /** Notes a turn. The first warning comes at the third time round, the stop at the fifth. */
  add(requests: readonly CallRequest[], outcomes: readonly CallOutcome[]): LoopVerdict {
    this.#turns.push(fingerprint(requests, outcomes));
    if (this.#turns.length > longestCycle * stopAfter) this.#turns.shift();
    for (let length = 1; length <= longestCycle; length++) {
      const rounds = this.#rounds(length);
      if (rounds >= stopAfter) return 'stop';
      if (rounds === warnAfter && this.#isRoundComplete(length)) return 'warn';
    }
    return 'fine';
  }

  /** A person has spoken: whatever comes now is a new beginning. */
  reset(): void {
    this.#turns.length = 0;
  }

  /** How many times in a row the last `length` turns have happened. */
  #rounds(length: number): number {
    return Math.floor(this.#repeated(length) / length) + 1;
  }

  /** True only for the turn that completes a round, so that a warning is given once. */
  #isRoundComplete(length: number): boolean {
    return this.#repeated(length) % length === 0;
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

/** Text that has gone on repeating itself for this long will not stop by itself. */
const repeatedCharacters = 4_000;
const longestPhrase = 400;

/** Notices an answer that says the same phrase over and over. */
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
