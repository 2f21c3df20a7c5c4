import { basename } from 'node:path';
import type { Reading } from './rule.js';

/**
 * `git checkout *` against the words of a command. Words are compared whole, so `git` is not `gitk`; inside a word `*`
 * stands for any text. A spec is a prefix: `npm run` covers `npm run test`. Read widely, a program matches by its last
 * name too, so that denying `curl` also denies `/usr/bin/curl`.
 */
export function matchesCommand(spec: string, words: readonly string[], reading: Reading): boolean {
  const wanted = spec.replace(/:\*$/, ' *').trim().split(/\s+/);
  if (wanted.at(-1) === '*' && wanted.length > 1) wanted.pop();
  if (wanted.length > words.length) return false;
  return wanted.every((pattern, index) => {
    const word = words[index] ?? '';
    if (matchesWord(pattern, word)) return true;
    return reading === 'wide' && index === 0 && matchesWord(pattern, basename(word));
  });
}

/** Whether `word` is `pattern`, in which `*` stands for any text. Linear in both. */
export function matchesWord(pattern: string, word: string): boolean {
  if (!pattern.includes('*')) return pattern === word;
  const [first = '', ...rest] = pattern.split('*');
  if (!word.startsWith(first)) return false;
  let at = first.length;
  for (const part of rest.slice(0, -1)) {
    const next = word.indexOf(part, at);
    if (next === -1) return false;
    at = next + part.length;
  }
  const last = rest.at(-1) ?? '';
  return word.length - last.length >= at && word.endsWith(last);
}
