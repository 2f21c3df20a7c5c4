/** One line of `lathe doctor`. */
export interface Finding {
  /** `note`: works, but worth knowing. */
  state: 'ok' | 'note' | 'bad';
  title: string;
  detail: string;
  /** How to fix it. */
  hint?: string;
}
