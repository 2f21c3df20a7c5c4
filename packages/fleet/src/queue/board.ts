/**
 * What a fleet shares beside the jobs: results, questions and answers, cancellations, spending, workers. Small values in
 * groups; a group is forgotten a month after its last change.
 */
export interface Board {
  get(group: string, field: string): Promise<string | undefined>;
  /** With `ifAbsent` the first value stays; returns whether this one was written. */
  set(group: string, field: string, value: string, options?: { ifAbsent?: boolean }): Promise<boolean>;
  remove(group: string, field: string): Promise<void>;
  fields(group: string): Promise<string[]>;
  /** Adds to a number in one step and returns the sum. */
  add(group: string, field: string, amount: number): Promise<number>;
  /** The time of the server, in milliseconds. */
  now(): Promise<number>;
  close(): Promise<void>;
}

export const retentionSeconds = 30 * 24 * 3600;
