export interface Cut {
  head: string;
  tail: string;
  /** Characters between head and tail. */
  omitted: number;
}

/** The first fifth and the last four fifths of `limit` characters, cut at line ends where one is near. */
export function keepEnds(text: string, limit: number): Cut {
  const headEnd = lineEndBefore(text, Math.floor(limit / 5));
  const tailStart = lineStartAfter(text, text.length - (limit - headEnd));
  return { head: text.slice(0, headEnd), tail: text.slice(tailStart), omitted: tailStart - headEnd };
}

/** How far a cut may move to a line break. */
const reach = 200;

function lineEndBefore(text: string, at: number): number {
  const newline = text.lastIndexOf('\n', at);
  if (newline > at - reach && newline > 0) return newline;
  return isLowSurrogate(text, at) ? at - 1 : at;
}

function lineStartAfter(text: string, at: number): number {
  const newline = text.indexOf('\n', at);
  if (newline !== -1 && newline < at + reach) return newline + 1;
  return isLowSurrogate(text, at) ? at + 1 : at;
}

/** At most this many characters from the beginning. */
export function headOf(text: string, limit: number): string {
  return text.slice(0, isLowSurrogate(text, limit) ? limit - 1 : limit);
}

/** A cut here would split a surrogate pair, which no provider accepts. */
export function isLowSurrogate(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff;
}
