import type { BatchProgress } from '@lathe/agent';

/** What a command uses of the process. */
export interface FleetIo {
  cwd: string;
  home: string;
  env: Readonly<Record<string, string | undefined>>;
  out: (text: string) => void;
  err: (text: string) => void;
  /** Shows how far a run is. */
  progress: { show(progress: BatchProgress & { note?: string }): void; end(): void };
}

/** Wrong usage: exit code 2. */
export class FleetUsageError extends Error {
  override readonly name = 'FleetUsageError';
}
