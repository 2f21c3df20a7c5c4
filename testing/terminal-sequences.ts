/** A control character or sequence in what a program sent to a terminal. */
export interface Sequence {
  text: string;
  at: number;
}

/**
 * Reads a stream as a terminal does (ECMA-48) and lists every control in it but newline: C0 and C1 characters, `ESC x`,
 * `CSI … letter`, and strings (OSC, DCS, APC, PM, SOS) up to their end, whether or not they have one.
 */
export function controlsOf(stream: string): Sequence[] {
  const found: Sequence[] = [];
  for (let at = 0; at < stream.length; at++) {
    const length = controlLength(stream, at);
    if (length === 0) continue;
    found.push({ text: stream.slice(at, at + length), at });
    at += length - 1;
  }
  return found;
}

function controlLength(stream: string, at: number): number {
  const code = stream.charCodeAt(at);
  if (code === 0x0a) return 0;
  if (code === 0x1b) return escapeLength(stream, at);
  if (code === 0x9b) return 1 + csiLength(stream, at + 1);
  if ([0x90, 0x98, 0x9d, 0x9e, 0x9f].includes(code)) return 1 + stringLength(stream, at + 1);
  return code < 0x20 || (code >= 0x7f && code <= 0x9f) ? 1 : 0;
}

function escapeLength(stream: string, at: number): number {
  const next = stream[at + 1] ?? '';
  if (next === '[') return 2 + csiLength(stream, at + 2);
  if (next !== '' && ']PX^_'.includes(next)) return 2 + stringLength(stream, at + 2);
  return 1 + (/^[ -/]*[0-~]?/.exec(stream.slice(at + 1, at + 9))?.[0].length ?? 0);
}

function csiLength(stream: string, at: number): number {
  return /^[0-?]*[ -/]*[@-~]?/.exec(stream.slice(at, at + 64))?.[0].length ?? 0;
}

function stringLength(stream: string, at: number): number {
  const rest = stream.slice(at);
  // oxlint-disable-next-line no-control-regex -- control characters are what this is about
  const end = /\u0007|\u009c|\u001b\\/.exec(rest);
  return end ? end.index + end[0].length : rest.length;
}

// oxlint-disable no-control-regex -- control characters are what this is about
/** Colours and weights, and nothing else of what `CSI … m` can do. */
const colour = /^\u001b\[(?:0|1|2|3|4|7|22|23|24|27|3[0-9]|4[0-9]|9[0-7]|10[0-7])?(?:;\d{1,3})*m$/;
/**
 * What the screen itself uses: erase a line or all below, go up, to the first column; cursor, paste, one frame at once;
 * the bell, the title of the window, a notification, and questions about the background.
 */
const drawing =
  /^\r$|^\u001b\[(?:2K|J|\d+A|c|2[23];0t|\?(?:25|2004|2026)[hl])$|^\u0007$|^\u001b\](?:0|9|11);[^\u0000-\u001f\u007f-\u009f]*\u0007$/;

/** Controls that are not ours. Text alone may only have colours; a screen may also draw. */
export function foreignControls(stream: string, { mayDraw = false } = {}): Sequence[] {
  return controlsOf(stream).filter(({ text }) => !colour.test(text) && !(mayDraw && drawing.test(text)));
}
