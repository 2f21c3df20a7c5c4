import { once } from 'node:events';
import { statSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { resolve } from 'node:path';
import { format } from 'node:util';
import { type Invocation, parseInvocation, UsageError } from './command-line/args.js';
import { commandNames } from './command-line/command-names.js';
import { errorMessage } from './command-line/error-message.js';
import { exitCodes } from './command-line/exit-codes.js';
import { helpText } from './command-line/help.js';
import type { Io } from './command-line/io.js';
import { sanitizeOutput } from './command-line/sanitize-output.js';
import { reportWarnings } from './command-line/warnings.js';
import { findCommand } from './commands/find-command.js';

/** Parses the command line, runs the command and returns the exit code. */
export async function run(args: readonly string[], version: string): Promise<number> {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    // A closed terminal also sends SIGHUP, which ends the program cleanly.
    if (process.stdout.isTTY && error.code === 'EIO') return;
    // A reader that closes early (`lathe tools | head -1`) is not an error.
    process.exit(error.code === 'EPIPE' ? 0 : 1);
  });
  redirectConsole();
  try {
    const invocation = parseInvocation(args, new Set(commandNames));
    const io: Io = {
      args,
      version,
      env: process.env,
      cwd: directoryOf(invocation),
      // With an empty HOME our files would end up in the current directory.
      home: homedir() || userInfo().homedir,
      stdin: process.stdin,
      terminal: process.stdout,
      isInteractive: process.stdin.isTTY && process.stdout.isTTY && !isAutomated,
      out,
      err,
      flush,
    };
    reportWarnings((message) => err(`lathe: ${message}`));
    return await dispatch(invocation, io);
  } catch (error) {
    return reportError(error, args);
  }
}

/** Some CI services give their jobs a terminal that nobody looks at. */
const isAutomated = !['', '0', 'false'].includes(process.env['CI'] ?? '');

const line = (text: string): string => sanitizeOutput(text.endsWith('\n') ? text : `${text}\n`);
const out = (text: string): void => void process.stdout.write(line(text));
const flush = async (): Promise<void> => {
  if (process.stdout.writableNeedDrain) await once(process.stdout, 'drain');
};
const err = (text: string): void => void process.stderr.write(line(text));

/** Libraries write to the console and quote servers there. Only the command itself may write to stdout and the screen. */
function redirectConsole(): void {
  Object.assign(console, { log: debug, info: debug, warn: debug, error: debug, debug });
}

function debug(...words: unknown[]): void {
  if (process.env['LATHE_DEBUG']) err(format(...words));
}

function directoryOf({ flags }: Invocation): string {
  const path = flags.cwd === undefined ? startDirectory() : resolve(flags.cwd);
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw new UsageError(`${path} is not a directory`);
  return path;
}

function startDirectory(): string {
  try {
    return process.cwd();
  } catch {
    throw new UsageError('the current directory no longer exists; change to another one or use --cwd DIR');
  }
}

/** Prints one line, and the stack trace only with LATHE_DEBUG. Returns the exit code. */
function reportError(error: unknown, [first = '']: readonly string[]): number {
  if (error instanceof UsageError) {
    const command = commandNames.find((name) => name === first);
    const all = 'lathe --help';
    const help = command === undefined ? all : `lathe ${command} --help (all commands: ${all})`;
    err(`lathe: ${error.message}\nTry: ${help}`);
    return exitCodes.usage;
  }
  err(`lathe: ${errorMessage(error)}`);
  if (process.env['LATHE_DEBUG'] && error instanceof Error) err(error.stack ?? '');
  return exitCodes.failure;
}

async function dispatch(invocation: Invocation, io: Io): Promise<number> {
  if (io.args.includes('--version') && invocation.command === undefined) {
    io.out(io.version);
    return exitCodes.success;
  }
  if (invocation.flags.help) {
    io.out(helpText(invocation.command));
    return exitCodes.success;
  }
  const controller = new AbortController();
  const interrupt = () => {
    // A second signal exits at once. Running commands are still killed with the program.
    if (controller.signal.aborted) process.exit(exitCodes.interrupted);
    controller.abort(new Error('interrupted'));
  };
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, interrupt);
  try {
    const command = await findCommand(invocation.command);
    const extra = invocation.operands[command.maxOperands ?? Number.POSITIVE_INFINITY];
    if (extra !== undefined)
      throw new UsageError(`${invocation.command} does not take the argument ${JSON.stringify(extra)}`);
    const code = await command.run(invocation, io, controller.signal);
    return controller.signal.aborted ? exitCodes.interrupted : code;
  } catch (error) {
    const code = reportError(error, io.args);
    return controller.signal.aborted ? exitCodes.interrupted : code;
  } finally {
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.off(name, interrupt);
  }
}
