/** What a command uses of the process. */
export interface FleetIo {
  cwd: string;
  home: string;
  env: Readonly<Record<string, string | undefined>>;
  /** Progress is drawn over itself in a terminal. */
  isInteractive: boolean;
  out: (text: string) => void;
  err: (text: string) => void;
  /** Writes to the terminal as it is. */
  draw: (text: string) => void;
}

/** Wrong usage: exit code 2. */
export class FleetUsageError extends Error {
  override readonly name = 'FleetUsageError';
}
