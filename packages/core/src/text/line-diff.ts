/** Lines `oldStart` to `oldEnd` (0-based, end excluded) became lines `newStart` to `newEnd`. */
export interface LineEdit {
  oldStart: number;
  oldEnd: number;
  newStart: number;
  newEnd: number;
}

/** Timeout of one exact comparison; after it, a coarser diff is used. */
const timeoutMs = 20;

/** Above this many lines the comparison is split first. */
const maxExact = 2000;

/**
 * The difference between two lists of lines: always correct, and minimal where that is cheap. Lines that occur once on
 * both sides split a large comparison into small ones; a part that cannot be compared in time counts as replaced.
 */
export async function diffLines(oldLines: readonly string[], newLines: readonly string[]): Promise<LineEdit[]> {
  const whole = { oldStart: 0, oldEnd: oldLines.length, newStart: 0, newEnd: newLines.length };
  return compare(oldLines, newLines, whole, 0);
}

const maxDepth = 50;

async function compare(
  a: readonly string[],
  b: readonly string[],
  range: LineEdit,
  depth: number,
): Promise<LineEdit[]> {
  const rest = trimmed(a, b, range);
  const [removed, added] = [rest.oldEnd - rest.oldStart, rest.newEnd - rest.newStart];
  if (removed === 0 && added === 0) return [];
  if (removed === 0 || added === 0 || (removed === 1 && added === 1)) return [rest];
  if (removed + added <= maxExact) {
    const exact = await compareExactly(a, b, rest);
    if (exact) return exact;
  }
  const anchors = depth < maxDepth ? commonUniqueLines(a, b, rest) : [];
  if (anchors.length === 0) return [rest];
  const edits: LineEdit[] = [];
  let { oldStart, newStart } = rest;
  for (const [oldEnd, newEnd] of [...anchors, [rest.oldEnd, rest.newEnd] as const]) {
    edits.push(...(await compare(a, b, { oldStart, oldEnd, newStart, newEnd }, depth + 1)));
    [oldStart, newStart] = [oldEnd + 1, newEnd + 1];
  }
  return edits;
}

/** The range without the lines that both sides share at its ends. */
function trimmed(a: readonly string[], b: readonly string[], range: LineEdit): LineEdit {
  let { oldStart, oldEnd, newStart, newEnd } = range;
  while (oldStart < oldEnd && newStart < newEnd && a[oldStart] === b[newStart]) {
    oldStart++;
    newStart++;
  }
  while (oldStart < oldEnd && newStart < newEnd && a[oldEnd - 1] === b[newEnd - 1]) {
    oldEnd--;
    newEnd--;
  }
  return { oldStart, oldEnd, newStart, newEnd };
}

async function compareExactly(
  a: readonly string[],
  b: readonly string[],
  range: LineEdit,
): Promise<LineEdit[] | undefined> {
  const { diffArrays } = await import('diff');
  const [before, after] = [a.slice(range.oldStart, range.oldEnd), b.slice(range.newStart, range.newEnd)];
  const parts = diffArrays(before, after, { timeout: timeoutMs });
  if (parts === undefined) return undefined;
  const edits: LineEdit[] = [];
  let [oldAt, newAt] = [range.oldStart, range.newStart];
  for (const { added, removed, count } of parts) {
    const [oldEnd, newEnd] = [oldAt + (added ? 0 : count), newAt + (removed ? 0 : count)];
    const last = edits.at(-1);
    if ((added || removed) && last && last.oldEnd === oldAt && last.newEnd === newAt)
      Object.assign(last, { oldEnd, newEnd });
    else if (added || removed) edits.push({ oldStart: oldAt, oldEnd, newStart: newAt, newEnd });
    [oldAt, newAt] = [oldEnd, newEnd];
  }
  return edits;
}

/** Lines that occur once on both sides, as many as keep their order. */
function commonUniqueLines(a: readonly string[], b: readonly string[], range: LineEdit): (readonly [number, number])[] {
  const old = uniqueLines(a, range.oldStart, range.oldEnd);
  const pairs: (readonly [number, number])[] = [];
  for (const [line, newAt] of uniqueLines(b, range.newStart, range.newEnd)) {
    const oldAt = old.get(line);
    if (newAt !== -1 && oldAt !== undefined && oldAt !== -1) pairs.push([oldAt, newAt]);
  }
  return longestRising(pairs.sort(([x], [y]) => x - y));
}

/** The index of each line; -1 for a line that occurs more than once. */
function uniqueLines(lines: readonly string[], start: number, end: number): Map<string, number> {
  const places = new Map<string, number>();
  for (let at = start; at < end; at++) {
    const line = lines[at] ?? '';
    places.set(line, places.has(line) ? -1 : at);
  }
  return places;
}

/** The longest subsequence with increasing second numbers, by patience sorting. */
function longestRising(pairs: readonly (readonly [number, number])[]): (readonly [number, number])[] {
  const piles: number[] = [];
  const previous: (number | undefined)[] = [];
  for (const [index, [, value]] of pairs.entries()) {
    let [low, high] = [0, piles.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((pairs[piles[middle] ?? 0]?.[1] ?? 0) < value) low = middle + 1;
      else high = middle;
    }
    previous.push(piles[low - 1]);
    piles[low] = index;
  }
  const chosen: (readonly [number, number])[] = [];
  for (let at = piles.at(-1); at !== undefined; at = previous[at]) chosen.push(pairs[at] ?? [0, 0]);
  return chosen.toReversed();
}
