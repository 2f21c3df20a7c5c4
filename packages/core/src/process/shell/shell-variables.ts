import { type ExpansionScope, expandWord } from './expand-word.js';
import type { Assignment } from './shell-syntax.js';

/** A variable that only this shell uses: lower case, and none of the few that programs use. */
export function isPlainVariable(name: string): boolean {
  return /^[a-z_][a-z0-9_]*$/.test(name) && !/proxy|^_$/.test(name);
}

const locale = /^(C|POSIX|C\.UTF-8|en_US\.UTF-8)$/;
const harmlessSettings: ReadonlyMap<string, RegExp> = new Map([
  ['LC_ALL', locale],
  ['LANG', locale],
  ['TZ', /^[A-Z]{3,4}$/],
  ['NO_COLOR', /^1$/],
  ['FORCE_COLOR', /^0$/],
  ['CI', /^(1|true)$/],
  ['TERM', /^(dumb|xterm)$/],
  ['PAGER', /^cat$/],
  ['GIT_PAGER', /^cat$/],
  ['GIT_OPTIONAL_LOCKS', /^0$/],
  ['COLUMNS', /^\d+$/],
]);

/** An assignment before a command that does not make any program do more than without it. */
export function isHarmlessSetting({ name, isPlain, words }: Assignment, scope: ExpansionScope): boolean {
  const allowed = harmlessSettings.get(name);
  const [value, ...others] = words.flatMap((word) => expandWord(word, scope));
  // An empty value counts too: `PATH= ls` runs a program in the current directory.
  if (!isPlain || allowed === undefined || value === undefined || others.length > 0) return false;
  return value.isKnown && allowed.test(value.value);
}
