/** One suggestion. `label` and `detail` are sanitized. */
export interface Candidate {
  label: string;
  detail?: string;
  insert: string;
}

/** Suggestions that replace the text between `start` and the cursor. */
export interface Completion {
  start: number;
  candidates: readonly Candidate[];
  /** What Enter does if the person has not selected a candidate with the arrow keys. */
  onEnter: 'send' | 'accept' | 'accept and send';
}

/** Returns `undefined` if the source does not apply to this text. */
export type CompletionSource = (
  text: string,
  cursor: number,
  signal: AbortSignal,
) => Completion | undefined | Promise<Completion | undefined>;

/** Lines in the list of candidates. */
export const maxCandidates = 8;
