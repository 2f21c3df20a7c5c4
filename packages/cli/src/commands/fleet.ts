import { UsageError } from '../command-line/args.js';
import { exitCodes } from '../command-line/exit-codes.js';
import type { Command } from './command.js';

/** The part of `@lathe/fleet` that is used here: the package is installed by those who need it. */
interface FleetPackage {
  runFleet(args: readonly string[], io: object, signal: AbortSignal): Promise<number>;
}

const fleetPackage = '@lathe/fleet';
const draw = (text: string): void => void process.stderr.write(text);

/** `lathe fleet` runs tasks on many machines. */
export const command: Command = {
  async run({ operands }, io, signal) {
    const fleet = await load();
    if (!fleet) {
      io.err(
        `lathe: this needs the package ${fleetPackage}. Install it next to lathe: npm install --global ${fleetPackage}`,
      );
      return exitCodes.failure;
    }
    const { cwd, home, env, out, err } = io;
    const isInteractive = process.stderr.isTTY;
    try {
      return await fleet.runFleet(operands, { cwd, home, env, out, err, draw, isInteractive }, signal);
    } catch (error) {
      if (error instanceof Error && error.name === 'FleetUsageError') throw new UsageError(error.message);
      throw error;
    }
  },
};

async function load(): Promise<FleetPackage | undefined> {
  try {
    return await import(fleetPackage);
  } catch (error) {
    // Only its absence is expected; a broken installation is an error.
    if (
      error instanceof Error &&
      'code' in error &&
      error.code === 'ERR_MODULE_NOT_FOUND' &&
      error.message.includes(fleetPackage)
    )
      return undefined;
    throw error;
  }
}
