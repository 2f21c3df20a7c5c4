/** Turns an indentation as the needle writes it into the file's; `undefined` when the rule does not cover it. */
export type Reindent = (indent: string) => string | undefined;

/** The part of the file that matches `old_string`, line by line: between two lines is a line break. */
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
  /** Names of the differences that were ignored; empty for an exact match. */
  relaxed: string[];
  /** How to indent new lines, when the indentation was ignored. */
  reindent?: Reindent;
}
