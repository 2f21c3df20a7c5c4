/**
 * Sanitizes text from outside for a terminal: control, bidirectional and invisible characters become visible escapes.
 * Newlines and tabs stay.
 */
export function visibleText(text: string): string {
  return text.replace(hidden, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`;
  });
}

/** True when `visibleText` would change the text. */
export function hasHiddenText(text: string): boolean {
  return text.search(hidden) !== -1;
}

/** Shows invisible characters by their code, as diffs do, because a backslash has a meaning in code. */
export function spelledOut(text: string): string {
  return text.replace(
    hidden,
    (character) => `<U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}>`,
  );
}

// Control characters except \t and \n, format characters, line separators, lone surrogates and default-ignorable
// characters. The variation selector of an emoji (⚠️, 1️⃣) is visible.
const hidden =
  // oxlint-disable-next-line no-control-regex -- control characters are what this is about
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}](?<!\p{Extended_Pictographic}\ufe0f|[\d#*]\ufe0f(?=\u20e3))/gu;
