/** What `lathe` uses of `@lathe/fleet`, which is installed by those who need it. */
export interface FleetPackage {
  runFleet(args: readonly string[], io: object, signal: AbortSignal): Promise<number>;
  followStatus(
    args: readonly string[],
    io: object,
    show: (status: FleetStatus) => void,
    how: { isLive: boolean; signal: AbortSignal },
  ): Promise<void>;
}

/** What is in the queue of a team. */
export interface FleetStatus {
  /** What is wrong with the clock of this machine. */
  clockProblem?: string | undefined;
  jobs: Readonly<Record<string, number>>;
  workers: readonly { name: string; seen: number; running: number; jobs: number }[];
  runs: readonly { name: string; total: number; ended: number; failed: number; tokens: number; cents: number }[];
  questions: readonly { id: string; run: string; tool: string; digest: string; text: string; worker: string }[];
  /** Jobs that were refused or given up. */
  failed: readonly { key?: string; run?: string; id?: string; reason: string }[];
  /** Tasks that ended since the status is watched. */
  perMinute?: number;
}

export const fleetPackage = '@lathe/fleet';

/** Undefined where the package is not installed. A broken installation is an error. */
export async function loadFleet(): Promise<FleetPackage | undefined> {
  try {
    return await import(fleetPackage);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ERR_MODULE_NOT_FOUND' && String(error).includes(fleetPackage)) return undefined;
    throw error;
  }
}
