import { homeDirectories } from '@lathe/core/host';
import { Keys } from '../job/keys.js';
import { type FleetIo, FleetUsageError } from './io.js';
import { answerCommand, cancelCommand, resultsCommand } from './other-commands.js';
import { runCommand } from './run-command.js';
import { workerCommand } from './worker-command.js';

type FleetCommand = (args: string[], io: FleetIo, signal: AbortSignal) => Promise<number>;

const commands: Record<string, FleetCommand> = {
  worker: workerCommand,
  run: runCommand,
  cancel: cancelCommand,
  answer: answerCommand,
  results: resultsCommand,
  key: keyCommand,
  trust: trustCommand,
};

/** `lathe fleet …`. Returns the exit code; throws `FleetUsageError` for wrong usage. */
export async function runFleet(args: readonly string[], io: FleetIo, signal: AbortSignal): Promise<number> {
  const [name = '', ...rest] = args;
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!command)
    throw new FleetUsageError(`fleet needs one of: ${Object.keys(commands).join(', ')}, status, watch, apply`);
  return command(rest, io, signal);
}

/** `lathe fleet key`: prints the public key of this machine. */
async function keyCommand(_args: string[], io: FleetIo): Promise<number> {
  io.out(new Keys(homeDirectories(io).latheHome).publicKey);
  return 0;
}

/** `lathe fleet trust NAME KEY`: accepts the jobs, answers and results that this key signs. */
async function trustCommand(args: string[], io: FleetIo): Promise<number> {
  const keys = new Keys(homeDirectories(io).latheHome);
  const [name, key] = args;
  if (name === undefined) {
    for (const [each, of] of keys.trusted()) io.out(`${of} ${each}`);
    return 0;
  }
  if (key === undefined) throw new FleetUsageError('lathe fleet trust NAME KEY');
  keys.trust(name, key);
  io.out(`Jobs, answers and results of ${name} are accepted.`);
  return 0;
}
