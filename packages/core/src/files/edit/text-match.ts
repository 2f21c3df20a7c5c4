/** Turns an indentation as the needle writes it into the file's; `undefined` when the rule does not cover it. */
export type Reindent = (indent: string) => string | undefined;

/** A stretch of the file that `old_string` means, line by line: what lies between two lines is a line break. */
export interface Match {
  lines: LineSpan[];
}

export interface LineSpan {
  start: number;
  end: number;
  /** The bytes of each character position of the wanted line, where it differs from what the file has. */
  offsetAt?: (column: number) => number | undefined;
}

export interface Found {
  matches: Match[];
  /** What was overlooked to find it, in words; empty when the text is there as it was given. */
  relaxed: string[];
  /** How new lines must be indented to fit, when the indentation was overlooked. */
  reindent?: Reindent;
}
