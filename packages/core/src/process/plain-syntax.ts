/**
 * Why the text of a command is too rich to be proven; `undefined` when it is plain. A second opinion beside the grammar,
 * from the text alone and without minding quotes: in such places the grammar and bash may read the same text differently,
 * and few people who only look at something write them.
 */
export function richSyntax(command: string): string | undefined {
  const substitution = command.search(/[$<>]\(/);
  if (substitution !== -1 && /\bcase\b/.test(command.slice(substitution)))
    return 'It has a case inside a substitution.';
  return rich.find(([, pattern]) => pattern.test(command))?.[0];
}

/** A backslash before a line break joins the two lines; where no blank stands before it, two halves of a word or sign. */
export function breaksWord(command: string): boolean {
  return /(^|[^ \t])\\\n/.test(command);
}

/** `${name}`, its length, or with a default, a prefix or a suffix that is plain text. */
const plainParameter = String.raw`#?[A-Za-z_]\w*(?:(?::?[-+]|##?|%%?|//?|\^\^?|,,?)[\w./,:=@%+*? $-]*)?\}`;
/** Of numbers alone. */
const plainArithmetic = String.raw`\([\d\s+*/%<>()-]*\)\)`;

const rich: readonly (readonly [why: string, pattern: RegExp])[] = [
  ['It uses backquotes.', /`/],
  ['It expands a parameter in an unusual way.', new RegExp(String.raw`\$\{(?!${plainParameter})`)],
  ['It calculates with more than numbers.', new RegExp(String.raw`\$(?:\[|\((?=\()(?!${plainArithmetic}))`)],
  ['It has a variable right before a brace.', /\$[A-Za-z_]\w*\{/],
  ['It has a <(…) in the middle of a word.', /[^\s(;|&][<>]\(/],
  ['It has a ~ in or behind braces.', /[{},]~/],
];
