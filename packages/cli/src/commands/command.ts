import type { Invocation } from '../command-line/args.js';
import type { Io } from '../command-line/io.js';

export interface Command {
  /** More operands are wrong usage; a command without this judges its own. */
  maxOperands?: number;
  /** Returns the exit code. */
  run(invocation: Invocation, io: Io, signal: AbortSignal): Promise<number>;
}

/** The commands that have a name; without one it is the agent itself. */
export const commandNames = [
  'tools',
  'call',
  'console',
  'sessions',
  'view',
  'undo',
  'mcp',
  'demo',
  'serve',
  'trust',
  'completion',
  'doctor',
] as const;
