export type ParsedJson = { ok: true; value: unknown } | { ok: false; problem: string };

/** Twice the limit of any tool, so that below it the tool reports the more specific error. */
const maxDepth = 200;
const maxValues = 200_000;

export function parseJson(text: string): ParsedJson {
  try {
    const value: unknown = JSON.parse(text);
    return { ok: true, value };
  } catch (error) {
    return { ok: false, problem: error instanceof Error ? error.message.slice(0, 200) : 'unreadable' };
  }
}

/** Parses only JSON whose value is not much larger than its text: 16 MB of `[[[[` would take hundreds. */
export function parseBoundedJson(text: string): ParsedJson {
  const problem = shapeProblem(text);
  return problem === null ? parseJson(text) : { ok: false, problem };
}

/** The end of the string that begins at `start`, or -1. */
export function endOfString(json: string, start: number): number {
  for (let at = json.indexOf('"', start + 1); at >= 0; at = json.indexOf('"', at + 1)) {
    let slashes = 0;
    while (json[at - 1 - slashes] === '\\') slashes++;
    if (slashes % 2 === 0) return at;
  }
  return -1;
}

/** Checks only brackets and commas outside strings; invalid JSON fails later, when it is parsed. */
function shapeProblem(text: string): string | null {
  let depth = 0;
  let values = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '"') {
      at = endOfString(text, at);
      if (at < 0) return null;
    } else if (character === '[' || character === '{') {
      values++;
      if (++depth > maxDepth) return `it is nested more than ${maxDepth} levels deep`;
    } else if (character === ']' || character === '}') depth--;
    else if (character === ',') values++;
    if (values > maxValues) return `it has more than ${maxValues} values`;
  }
  return null;
}
