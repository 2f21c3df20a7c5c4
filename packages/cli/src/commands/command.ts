import type { Invocation } from '../command-line/args.js';
import type { Io } from '../command-line/io.js';

export interface Command {
  /** More operands are a usage error. A command without this limit checks its operands itself. */
  maxOperands?: number;
  /** Returns the exit code. */
  run(invocation: Invocation, io: Io, signal: AbortSignal): Promise<number>;
}
