/**
 * Why the syntax of a command is too complex to be proven; `undefined` if it is plain. A second check besides the
 * grammar, on the text alone and ignoring quotes: the grammar and bash may parse such text differently, and commands
 * that only read rarely contain it.
 */
export function richSyntax(command: string): string | undefined {
  const substitution = command.search(/[$<>]\(/);
  if (substitution !== -1 && /\bcase\b/.test(command.slice(substitution)))
    return 'It has a case inside a substitution.';
  return rich.find(([, pattern]) => pattern.test(command))?.[0];
}

/** A backslash before a line break joins two lines; without a blank before it, it joins two halves of a word or operator. */
export function breaksWord(command: string): boolean {
  return /(^|[^ \t])\\\n/.test(command);
}

/** `${name}`, its length, or with a default, a prefix or a suffix that is plain text. */
const plainParameter = String.raw`#?[A-Za-z_]\w*(?:(?::?[-+]|##?|%%?|//?|\^\^?|,,?)[\w./,:=@%+*? $-]*)?\}`;
/** Arithmetic with numbers only. */
const plainArithmetic = String.raw`\([\d\s+*/%<>()-]*\)\)`;

const rich: readonly (readonly [why: string, pattern: RegExp])[] = [
  ['It uses backquotes.', /`/],
  ['It expands a parameter in an unusual way.', new RegExp(String.raw`\$\{(?!${plainParameter})`)],
  ['It calculates with more than numbers.', new RegExp(String.raw`\$(?:\[|\((?=\()(?!${plainArithmetic}))`)],
  ['It has a variable right before a brace.', /\$[A-Za-z_]\w*\{/],
  ['It has a <(…) in the middle of a word.', /[^\s(;|&][<>]\(/],
  ['It has a ~ in or after braces.', /[{},]~/],
];
