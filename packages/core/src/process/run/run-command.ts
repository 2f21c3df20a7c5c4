import { existsSync, readdirSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { attempt, ToolError, thrownText } from '../../contract/errors.js';
import type { LatheHome } from '../../files/lathe-home.js';
import { SpillStore } from '../../files/spill.js';
import { assertNode } from './assert-node.js';
import { CapturedOutput } from './captured-output.js';
import type { ContainedProgram, Launch, ProgramRequest, ResourceLimits } from './contained-program.js';
import { checkProgram, setLimits, startContained, usualLimits } from './contained-program.js';
import { Guardian, quietShell } from './guardian.js';
import { type CallMark, hasProc, MarkSeries, readProc } from './process-tree.js';
import { type CommandRequest, type CommandResult, type RunningCommand, startCommand } from './running-command.js';
import { trustedPath } from './trusted-path.js';

/** Largest output file of one command. */
const maxSpillBytes = 64 * 1024 * 1024;

export interface RunnerOptions {
  shell?: string;
  /** Where output goes that does not fit in memory. */
  spill?: SpillStore;
  /** What a command in a sandbox may use. */
  limits?: ResourceLimits;
}

/** Runs shell commands, each in its own process session, and leaves no process behind. */
export class CommandRunner {
  /** Runs every command, whatever the user's login shell is. */
  readonly shell: string;
  readonly #spill: SpillStore;
  readonly #series = new MarkSeries();
  /** Shell text that limits a command in a sandbox. */
  readonly #limits: string;
  readonly #guardian: Guardian;
  #programTurn: Promise<void> = Promise.resolve();

  constructor(home: LatheHome, options: RunnerOptions = {}) {
    assertNode();
    this.shell =
      options.shell ?? (existsSync('/bin/bash') ? '/bin/bash' : (trustedPath('bash', { outside: [] }) ?? '/bin/sh'));
    this.#spill = options.spill ?? new SpillStore(home);
    this.#limits = setLimits(options.limits ?? usualLimits);
    this.#guardian = new Guardian(this.shell, this.#series, () => home.directory('run'));
  }

  /**
   * Runs a command to its end. What the sandbox shows may vanish while it is set up; then it is set up once more, without
   * what is gone.
   */
  async run(request: CommandRequest, limits: { timeoutMs: number; signal: AbortSignal }): Promise<CommandResult> {
    const result = await this.#runOnce(request, limits);
    return result.isUnstarted ? this.#runOnce(request, limits) : result;
  }

  async #runOnce(request: CommandRequest, limits: { timeoutMs: number; signal: AbortSignal }): Promise<CommandResult> {
    const command = await this.start(request);
    const abort = () => command.stop({ type: 'abort' });
    const timer = setTimeout(() => command.stop({ type: 'timeout', ms: limits.timeoutMs }), limits.timeoutMs);
    limits.signal.addEventListener('abort', abort, { once: true });
    if (limits.signal.aborted) abort();
    try {
      return await command.result;
    } finally {
      clearTimeout(timer);
      limits.signal.removeEventListener('abort', abort);
    }
  }

  async start(request: CommandRequest): Promise<RunningCommand> {
    if (request.isKept && !this.shell.endsWith('bash'))
      throw new ToolError('shell_execute_error', 'Keeping a command needs bash.');
    const directory = await this.#openSpillDirectory();
    // No command runs without the guardian; if it was killed, this starts a new one.
    await this.#guardian.ready();
    const mark = this.#series.next({ isKept: request.isKept ?? false });
    const prelude = this.#prelude(mark, request);
    const output = new CapturedOutput({
      directory,
      maxBytes: maxSpillBytes,
      from: request.isFollowed ? 'start' : 'overflow',
      concealed: prelude,
      secrets: this.#spill.secrets,
    });
    const pipe = await this.#guardian.openPipe();
    const launch = await this.#launch(request, { mark, prelude, output }).catch((error: unknown) => {
      pipe.release({ isFree: true });
      throw error;
    });
    // `script`, which makes the terminal, starts the shell in this variable.
    const env = request.hasTerminal ? { ...request.env, SHELL: this.shell } : request.env;
    const command = await startCommand({ ...request, env }, { launch, pipe, mark, output });
    if (!hasProc && !request.isKept) this.#watchGroup(command);
    if (request.isKept) await this.#spill.leaveTo(command.pid);
    else void this.#noteSpilled(command);
    return command;
  }

  async #openSpillDirectory(): Promise<string> {
    try {
      return await this.#spill.open();
    } catch (cause) {
      const reason = thrownText(cause);
      const advice = 'set LATHE_HOME to a writable directory';
      throw new ToolError('shell_execute_error', `No directory for the output of commands (${reason}): ${advice}.`, {
        cause,
      });
    }
  }

  async #noteSpilled({ result, output }: RunningCommand): Promise<void> {
    await result;
    if (output.path !== undefined) await this.#spill.finished(output.path, output.spilledBytes).catch(() => undefined);
  }

  /** Starts a program with its own streams: an MCP server, a discovery command. No shell interprets its arguments. */
  async startProgram(request: ProgramRequest): Promise<ContainedProgram> {
    await checkProgram(request);
    await this.#guardian.ready();
    // A spawn blocks the event loop for a moment, so a hundred servers start one per turn of the loop.
    this.#programTurn = this.#programTurn.then(() => nextTurn());
    await this.#programTurn;
    const mark = this.#series.next();
    const limits = request.limits && hasProc ? setLimits(request.limits) : '';
    const prelude = this.#prelude(mark, {}) + limits;
    const marked = this.#marked(mark, request.argv);
    // The shell marks itself and then execs the program; the arguments are passed on as they are, never as shell text.
    const argv =
      prelude === ''
        ? marked
        : [this.shell, ...quietShell(this.shell), '-c', `${prelude}exec -- "$@"`, 'lathe', ...marked];
    const launch = await this.#watchPlaceholders(request.wrap?.(argv) ?? { argv });
    const program = await startContained(request, launch, mark);
    if (!hasProc) this.#watchGroup({ pid: program.pid, result: program.exited });
    return program;
  }

  /** Runs before the command, on the same line, so that line numbers in error messages stay right. */
  #prelude(mark: CallMark, { wrap }: Pick<CommandRequest, 'wrap'>): string {
    const limit = this.#series.limitSetter === 'ulimit' ? `ulimit -R ${mark.value}; ` : '';
    return limit + closingInherited(this.shell) + (wrap && hasProc ? this.#limits : '');
  }

  /** If the shell cannot set the limit that marks a process, `prlimit` does. */
  #marked(mark: CallMark, argv: readonly string[]): readonly string[] {
    const setter = this.#series.limitSetter;
    return setter?.startsWith('/') ? [setter, `--rttime=${mark.value}`, '--', ...argv] : argv;
  }

  async #launch(
    request: CommandRequest,
    { mark, prelude, output }: { mark: CallMark; prelude: string; output: CapturedOutput },
  ): Promise<Launch> {
    const shell = [this.shell, ...quietShell(this.shell), '-c', prelude + request.command];
    const argv = this.#marked(mark, request.hasTerminal ? inTerminal(shell) : shell);
    const wrapped = request.wrap?.(argv) ?? { argv };
    // A kept command removes its placeholders itself.
    const launch = request.isKept ? wrapped : await this.#watchPlaceholders(wrapped);
    return request.isKept
      ? keepRunning(launch, { shell: this.shell, file: output.path, maxBytes: maxSpillBytes })
      : launch;
  }

  /** Has the guardian remove the placeholders if Lathe dies before it releases them. */
  async #watchPlaceholders(launch: Launch): Promise<Launch> {
    const { placeholders = [], release } = launch;
    if (placeholders.length === 0 || release === undefined) return launch;
    const unwatch = await this.#guardian.watchPlaceholders(placeholders);
    return { ...launch, release: () => release().finally(unwatch) };
  }

  #watchGroup({ pid, result }: { pid: number; result: Promise<unknown> }): void {
    void this.#guardian.watchGroup(pid);
    void result.then(() => this.#guardian.unwatchGroup(pid));
  }
}

/**
 * Shell code that closes every descriptor above stderr that a child would inherit. Node opens files with close-on-exec;
 * descriptors that Lathe inherited itself may lack it.
 */
function closingInherited(shell: string): string {
  inherited ??= inheritableDescriptors();
  // Only bash accepts descriptor numbers of more than one digit.
  const closable = shell.endsWith('bash') ? inherited : inherited.filter((fd) => fd < 10);
  return closable.length === 0 ? '' : `exec ${closable.map((fd) => `${fd}>&-`).join(' ')}; `;
}

/** Read once, which saves 0.5 ms per command: `npm run bench -- --no-peers --only 'shell: run echo'`. */
let inherited: number[] | undefined;
const closeOnExec = 0o2000000;

function inheritableDescriptors(): number[] {
  const open = attempt(() => readdirSync('/proc/self/fdinfo').map(Number)) ?? [];
  return open.filter((fd) => fd > 2 && !isClosedOnExec(fd));
}

function isClosedOnExec(fd: number): boolean {
  const flags = readProc(`/proc/self/fdinfo/${fd}`)?.match(/^flags:\s+([0-7]+)/m)?.[1];
  return flags === undefined || (Number.parseInt(flags, 8) & closeOnExec) !== 0;
}

/**
 * Lets a program outlive Lathe (bash only). A small helper process writes its output to a file, so that the program
 * neither waits for a reader that is gone nor fills the disk. The helper keeps the original stdout open until the last
 * byte is written, which tells a running Lathe that the file is complete.
 */
function keepRunning(
  { argv, ...launch }: Launch,
  { shell, file, maxBytes }: { shell: string; file: string | undefined; maxBytes: number },
): Launch {
  if (file === undefined) throw new ToolError('shell_execute_error', 'There is no file for the output of the command.');
  const { placeholders = [] } = launch;
  const script = `exec "\${@:3 + $2}" > >(${closingInherited(shell)}${outputWriter(maxBytes / 1024)}) 2>&1`;
  const parameters = [file, `${placeholders.length}`, ...placeholders, ...argv];
  return { ...launch, argv: [shell, ...quietShell(shell), '-c', script, 'lathe', ...parameters] };
}

/**
 * $1 file, $2 number of placeholders, then the placeholders. The file size limit ends the first cat when the file is
 * full; the second one discards the rest, so that the program continues. The placeholders are removed here only if Lathe
 * is gone.
 */
function outputWriter(kilobytes: number): string {
  return `
exec 2>/dev/null
ulimit -c 0
(ulimit -f ${kilobytes}; exec cat >>"$1")
cat >/dev/null
kill -0 $PPID || rmdir -- "\${@:3:$2}"
`;
}

/**
 * Runs a program in a new pseudo-terminal, made by `script` of util-linux. Only the command uses that terminal, so it
 * can neither read from ours nor write to it.
 */
function inTerminal(argv: readonly string[]): string[] {
  const script = process.platform === 'linux' ? trustedPath('script', { outside: [] }) : undefined;
  if (script === undefined)
    throw new ToolError(
      'shell_execute_error',
      'A terminal needs the program script of util-linux, which is not installed.',
    );
  const sized = `stty rows 40 cols 120 2>/dev/null; exec ${argv.map(quote).join(' ')}`;
  return [script, '--quiet', '--return', '--flush', '--command', sized, '/dev/null'];
}

function quote(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
