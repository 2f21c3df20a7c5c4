import type { TaskResult } from '@lathe/agent';
import { UsageError } from '../command-line/args.js';
import { exitCodes } from '../command-line/exit-codes.js';
import type { Io } from '../command-line/io.js';
import { type FleetPackage, type FleetStatus, fleetPackage, loadFleet } from '../command-line/load-fleet.js';
import { ProgressLine } from '../render/progress-line.js';
import type { Command } from './command.js';

const clearScreen = '\u001b[H\u001b[2J';

/** `lathe fleet` runs tasks on many machines. */
export const command: Command = {
  async run({ operands, flags }, io, signal) {
    const fleet = await loadFleet();
    if (!fleet) {
      io.err(`lathe: this needs the package ${fleetPackage}, installed next to lathe: docs/fleet.md says how.`);
      return exitCodes.failure;
    }
    const [name, ...args] = operands;
    try {
      if (name === 'status') return await showStatus(fleet, args, io, signal);
      if (name === 'watch') return await watch(fleet, args, io, signal);
      if (name !== 'apply') return await fleet.runFleet(operands, ioFor(io), signal);
      const { applyResults } = await import('../fleet/apply-results.js');
      return await applyResults(await resultsOf(fleet, args, io, signal), { flags, io }, signal);
    } catch (error) {
      if (error instanceof Error && isUsage(error)) throw new UsageError(error.message);
      throw error;
    }
  },
};

function isUsage(error: Error): boolean {
  const code = 'code' in error ? String(error.code) : '';
  return error.name === 'FleetUsageError' || code.startsWith('ERR_PARSE_ARGS');
}

function ioFor({ cwd, home, env, out, err }: Io) {
  const progress = new ProgressLine(process.stderr, { isTerminal: process.stderr.isTTY });
  return { cwd, home, env, out, err, progress };
}

async function showStatus(fleet: FleetPackage, args: readonly string[], io: Io, signal: AbortSignal): Promise<number> {
  const { describeStatus } = await import('../fleet/describe-status.js');
  const show = (status: FleetStatus) =>
    io.out(args.includes('--json') ? JSON.stringify(status) : describeStatus(status));
  await fleet.followStatus(
    args.filter((arg) => arg !== '--json'),
    ioFor(io),
    show,
    { isLive: false, signal },
  );
  return exitCodes.success;
}

/** In the terminal or, with `--port`, as a page. */
async function watch(fleet: FleetPackage, args: readonly string[], io: Io, signal: AbortSignal): Promise<number> {
  const { port, rest } = takePort(args);
  const ended = new AbortController();
  const how = { isLive: true, signal: AbortSignal.any([signal, ended.signal]) };
  if (port === undefined) {
    const { describeStatus } = await import('../fleet/describe-status.js');
    let shown = '';
    const show = (status: FleetStatus) => {
      const text = describeStatus(status);
      if (process.stdout.isTTY) process.stdout.write(`${clearScreen}${text}\n`);
      else if (text !== shown) io.out(text);
      shown = text;
    };
    await fleet.followStatus(rest, ioFor(io), show, how);
    return exitCodes.success;
  }
  const { serveStatus } = await import('../fleet/serve-status.js');
  let latest = '{}';
  const following = fleet.followStatus(rest, ioFor(io), (status) => (latest = JSON.stringify(status)), how);
  const onListening = (address: string) => io.out(`lathe: the fleet is shown at ${address}`);
  const serving = serveStatus(
    { port, read: () => latest, onListening, log: (text) => io.err(`lathe: ${text}`) },
    how.signal,
  );
  await Promise.race([following, serving]).finally(() => ended.abort());
  await Promise.all([following, serving]);
  return exitCodes.success;
}

function takePort(args: readonly string[]): { port: number | undefined; rest: string[] } {
  const at = args.indexOf('--port');
  if (at < 0) return { port: undefined, rest: [...args] };
  const port = Number(args[at + 1]);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new UsageError('--port needs a number, 0 for any');
  return { port, rest: args.toSpliced(at, 2) };
}

/** The results of the named tasks, or of all tasks of the run. */
async function resultsOf(
  fleet: FleetPackage,
  args: readonly string[],
  io: Io,
  signal: AbortSignal,
): Promise<TaskResult[]> {
  const isFlag = (at: number) => args[at]?.startsWith('-') || args[at - 1]?.startsWith('-');
  const ids = new Set(args.filter((_, at) => !isFlag(at)));
  const lines: string[] = [];
  const own = { ...ioFor(io), out: (line: string) => void lines.push(line) };
  await fleet.runFleet(['results', ...args.filter((_, at) => isFlag(at))], own, signal);
  const results = lines.map((line): TaskResult => JSON.parse(line));
  const missing = [...ids].filter((id) => results.every((result) => result.id !== id));
  if (missing.length > 0) throw new UsageError(`the run has no result of ${missing.join(', ')} yet`);
  return ids.size === 0 ? results : results.filter(({ id }) => ids.has(id));
}
