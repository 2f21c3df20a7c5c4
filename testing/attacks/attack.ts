/** What an attack goes for. */
export type Area =
  | 'files'
  | 'homes'
  | 'git'
  | 'two processes'
  | 'grants'
  | 'sockets'
  | 'network'
  | 'kernel'
  | 'processes'
  | 'devices';

/**
 * A try to get out of a sandbox: a bash script that runs in the workspace of a world (see world.ts). It got out if it
 * printed a secret or the word ESCAPED, or if something in the world changed that must not. Variables: WS (the
 * workspace, also the current directory), HOME, OUT (a directory outside), DISK (a directory on another disk), PORT (of a server on loopback), ABSTRACT (the
 * name of an abstract socket), VICTIM (a process of the same user).
 */
export interface Attack {
  name: string;
  area: Area;
  script: string;
  /** What stops it in our sandbox. */
  stoppedBy: string;
  /** Runs outside, in the workspace, as soon as the script has created the file `ready`. */
  outside?: string;
  /** About names or rights that only Lathe knows. */
  isOurs?: true;
  /** The call asks for these rights, as a model could. */
  rights?: string[];
  /** A command in the background runs beside it, so that both share a network. */
  hasServer?: true;
  /** How often the same call is sent. */
  times?: number;
  /** Must not run without a sandbox, not even in a test. */
  isDangerous?: true;
}

/** Attacks of one area, as name, script and what stops it. */
export function attacks(
  area: Area,
  rows: readonly (readonly [name: string, script: string, stoppedBy: string, more?: Partial<Attack>])[],
): Attack[] {
  return rows.map(([name, script, stoppedBy, more]) => ({ name, area, script, stoppedBy, ...more }));
}
