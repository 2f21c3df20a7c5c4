import { visibleText } from '@lathe/core/host';
import { type Completion, maxCandidates } from './completions.js';

/** Earlier inputs that contain the text, newest first, without duplicates. */
export function searchHistory(history: readonly string[], text: string): Completion {
  const wanted = text.toLowerCase();
  const found = new Set<string>();
  for (let index = history.length - 1; index >= 0 && found.size < maxCandidates; index--) {
    const input = history[index] ?? '';
    if (input.toLowerCase().includes(wanted)) found.add(input);
  }
  const candidates = [...found].map((input) => ({
    label: visibleText(input).replace(/\s*\n\s*/g, ' ⏎ '),
    insert: input,
  }));
  return { start: 0, candidates, onEnter: 'accept' };
}
