/** One line of `lathe doctor`. */
export interface Finding {
  /** `note`: works, but the person may want to know. */
  state: 'ok' | 'note' | 'bad';
  title: string;
  detail: string;
  /** What to do about it. */
  hint?: string;
}
