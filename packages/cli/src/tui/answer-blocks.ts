/** Text that is being written, cut where a block of Markdown has certainly ended. */
export interface AnswerBlocks {
  /** Whole blocks, which nothing that follows can change. */
  whole: string;
  /** The block that is still growing. */
  growing: string;
}

/**
 * A block ends at a blank line outside a fence when the next line begins at the margin: indented text still belongs to
 * the list above it.
 */
export function answerBlocks(text: string): AnswerBlocks {
  let end = 0;
  let fence: string | undefined;
  let isAfterBlank = false;
  // The last line may still grow into something else.
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
  return { whole: text.slice(0, end), growing: text.slice(end) };
}
