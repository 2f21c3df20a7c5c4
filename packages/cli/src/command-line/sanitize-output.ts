/**
 * The last gate before the terminal: whatever a command prints, no control or bidirectional character leaves but tabs,
 * line ends and our own colours. The others are written as JSON would, so that JSON stays what it is.
 */
export function inertOutput(text: string): string {
  return text.replace(controls, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

const controls =
  // oxlint-disable-next-line no-control-regex -- control characters are what this is about
  /\u001b(?!\[[\d;]{0,12}m)|[\u0000-\u0008\u000b-\u001a\u001c-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
