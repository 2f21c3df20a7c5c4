/** Streamed Markdown, split after the last block that is certainly complete. */
export interface AnswerBlocks {
  /** Complete blocks, which later text cannot change. */
  complete: string;
  /** The block that may still grow. */
  growing: string;
}

/**
 * A block ends at an empty line outside a code fence if the next line is not indented. Indented text belongs to the list
 * above it.
 */
export function answerBlocks(text: string): AnswerBlocks {
  let end = 0;
  let fence: string | undefined;
  let isAfterBlank = false;
  // The last line may be incomplete.
  for (let at = 0; text.indexOf('\n', at) !== -1; at = text.indexOf('\n', at) + 1) {
    const line = text.slice(at, text.indexOf('\n', at));
    if (line.trim() === '') {
      isAfterBlank = true;
      continue;
    }
    if (fence === undefined && isAfterBlank && !/^\s/.test(line)) end = at;
    isAfterBlank = false;
    const mark = /^\s{0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (fence === undefined) fence = mark;
    else if (mark?.startsWith(fence) && line.trim() === mark) fence = undefined;
  }
  return { complete: text.slice(0, end), growing: text.slice(end) };
}
