/**
 * The last check before the terminal. Of all control and bidirectional characters, only tabs, line breaks and colours
 * pass. The others are escaped as in JSON, so that JSON output stays valid.
 */
export function sanitizeOutput(text: string): string {
  return text.replace(controls, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

const controls =
  // oxlint-disable-next-line no-control-regex -- control characters are what this matches
  /\u001b(?!\[[\d;]{0,12}m)|[\u0000-\u0008\u000b-\u001a\u001c-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
