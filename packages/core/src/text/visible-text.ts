/**
 * Text from outside, made inert for a terminal: control, bidirectional and invisible characters become escapes a
 * person can see. Newlines and tabs stay.
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

// C0 but for \t and \n, DEL, C1, soft hyphen, Arabic letter mark, Hangul and Khmer fillers, zero-width and bidi marks,
// line and paragraph separators, invisible operators, variation selectors' supplement, tags, lone surrogates.
const hidden =
  // oxlint-disable-next-line no-control-regex, no-misleading-character-class -- control characters are what this is about
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]|\p{Cs}/gu;
