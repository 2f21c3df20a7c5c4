/** One thing that Tab can put in. `label` and `detail` are inert. */
export interface Candidate {
  label: string;
  detail?: string;
  insert: string;
}

/** What a text could become: each candidate would replace what stands between `start` and the cursor. */
export interface Completion {
  start: number;
  candidates: readonly Candidate[];
  /** What Enter does as long as nobody chose a candidate with the arrows. */
  onEnter: 'send' | 'take' | 'take and send';
}

/** `undefined` where this source has nothing to say. */
export type CompletionSource = (
  text: string,
  cursor: number,
  signal: AbortSignal,
) => Completion | undefined | Promise<Completion | undefined>;

/** Lines of a list of candidates. */
export const maxCandidates = 8;
