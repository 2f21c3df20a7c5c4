const maxAlternatives = 1000;
/** Of all alternatives together. */
const maxChars = 32_768;
/** Characters of all intermediate patterns. */
const maxWork = 131_072;

/**
 * `a{b,c}d` → `abd`, `acd`. Braces without a comma or a partner are ordinary characters. Throws a `RangeError` with
 * a message for the author when there are too many.
 */
export function expandBraces(pattern: string): string[] {
  const done: string[] = [];
  const pending = [pattern];
  let [chars, work] = [0, 0];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const alternatives = expandFirst(next);
    work += next.length;
    if (alternatives !== undefined) pending.push(...alternatives.toReversed());
    else {
      done.push(next);
      chars += next.length;
    }
    if (done.length + pending.length > maxAlternatives)
      throw new RangeError(`the braces stand for more than ${maxAlternatives} patterns`);
    if (chars > maxChars) throw new RangeError(`the braces stand for more than ${maxChars} characters`);
    if (work > maxWork) throw new RangeError('there are too many braces');
  }
  return [...new Set(done)];
}

interface Group {
  from: number;
  to: number;
  commas: number[];
}

function expandFirst(pattern: string): string[] | undefined {
  const group = firstGroup(pattern);
  if (group === undefined) return undefined;
  const { from, to, commas } = group;
  const starts = [from, ...commas];
  return [...commas, to].map(
    (end, index) => pattern.slice(0, from) + pattern.slice((starts[index] ?? from) + 1, end) + pattern.slice(to + 1),
  );
}

/** The group that begins first. Starting with an inner one would expand it once per alternative of the outer one. */
function firstGroup(pattern: string): Group | undefined {
  const open: Omit<Group, 'to'>[] = [];
  let first: Group | undefined;
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern[at];
    if (character === '\\') at++;
    else if (character === '{') open.push({ from: at, commas: [] });
    else if (character === ',') open.at(-1)?.commas.push(at);
    else if (character === '}') {
      const group = open.pop();
      const isGroup = group !== undefined && group.commas.length > 0;
      if (isGroup && (first === undefined || group.from < first.from)) first = { ...group, to: at };
    }
  }
  return first;
}
