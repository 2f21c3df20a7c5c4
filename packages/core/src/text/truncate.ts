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

/** Keeps text that does not fit into the model's answer; returns the name of the file. */
export type Spill = (name: string, text: string) => Promise<string>;

/** Cuts a text to a limit. All of it goes to a file that the text then names. */
export async function fitText(
  text: string,
  { limit, name, spill }: { limit: number; name: string; spill: Spill },
): Promise<string> {
  return text.length <= limit ? text : withNote(keepEnds(text, limit), await placeOf(name, text, spill));
}

/** A text that cannot be kept is reported all the same: the work is done. */
export function placeOf(name: string, text: string, spill: Spill): Promise<string> {
  return spill(name, text).then(spilledTo, whyNot);
}

export function withNote({ head, tail, omitted }: Cut, place: string): string {
  return `${head}\n\n[${omitted} characters left out here; ${place}]\n\n${tail}`;
}

const spilledTo = (path: string) =>
  `the whole output is in ${path} (use read_file with offset and limit, or grep_search, on it)`;
const whyNot = (error: unknown) =>
  `the whole output could not be kept: ${error instanceof Error ? error.message : 'unknown reason'}`;
