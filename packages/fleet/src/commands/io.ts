/** What a command uses of the process. */
export interface FleetIo {
  cwd: string;
  home: string;
  env: Readonly<Record<string, string | undefined>>;
  out: (text: string) => void;
  err: (text: string) => void;
  /** Shows how far a run is. */
  progress: { show(progress: FleetProgress): void; end(): void };
}

/** How far a run is. */
export interface FleetProgress {
  total: number;
  /** Tasks with a result, those of earlier calls included. */
  done: number;
  now: number;
  failed: number;
  /** Questions that wait for a person. */
  asked: number;
}

/** Wrong usage: exit code 2. */
export class FleetUsageError extends Error {
  override readonly name = 'FleetUsageError';
}
