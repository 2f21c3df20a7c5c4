import { existsSync, rmSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ToolError } from '../errors.js';
import type { LatheHome } from '../files/lathe-home.js';
import { type CallMark, MarkSeries } from './call-mark.js';
import { CapturedOutput } from './captured-output.js';
import { type ContainedProgram, checkProgram, type ProgramRequest, startContained } from './contained-program.js';
import { closingInherited } from './descriptors.js';
import { Guardian, quietShell } from './guardian.js';
import { inTerminal } from './in-terminal.js';
import { keeping } from './keep-running.js';
import { OutputPipes } from './output-pipe.js';
import { hasProc } from './process-tree.js';
import {
  type CommandRequest,
  type CommandResult,
  type Launch,
  type RunningCommand,
  startCommand,
} from './running-command.js';
import { trustedPath } from './trusted-path.js';

/** Inside a sandbox the limit counts only its own processes, so that it stops a fork bomb and nobody else. */
const processLimit = 'ulimit -u 4096; ';
/** Of one command. */
const maxSpillBytes = 64 * 1024 * 1024;
/** Of all commands of a session. */
const maxSpilledBytes = 512 * 1024 * 1024;

export interface RunnerOptions {
  shell?: string;
}

/** Runs shell commands, each in a session of its own, and leaves nothing behind. */
export class CommandRunner {
  /** The one shell that runs everything, whatever the user's own is. */
  readonly shell: string;
  readonly #home: LatheHome;
  readonly #series = new MarkSeries();
  readonly #guardian: Guardian;
  readonly #pipes: OutputPipes;
  #turn: Promise<void> = Promise.resolve();
  readonly #spilled: { path: string; bytes: number }[] = [];
  #spillDirectory: string | undefined;

  constructor(home: LatheHome, options: RunnerOptions = {}) {
    this.shell =
      options.shell ?? (existsSync('/bin/bash') ? '/bin/bash' : (trustedPath('bash', { outside: [] }) ?? '/bin/sh'));
    this.#home = home;
    this.#guardian = new Guardian(this.shell, this.#series, () => home.directory('run'));
    this.#pipes = new OutputPipes(() => this.#guardian.makePipe());
  }

  /** Runs a command to its end. */
  async run(request: CommandRequest, limits: { timeoutMs: number; signal: AbortSignal }): Promise<CommandResult> {
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
    const directory = await this.#spill();
    // Never without the helper that cleans up after us, also when somebody has killed the last one.
    await this.#guardian.ready();
    const mark = this.#series.next({ isKept: request.isKept ?? false });
    const prelude = this.#prelude(mark, request);
    const output = new CapturedOutput({
      directory,
      maxBytes: maxSpillBytes,
      from: request.isFollowed ? 'start' : 'overflow',
      concealed: prelude,
    });
    const launch = await this.#guarded(this.#launch(request, { mark, prelude, output }), request);
    const pipe = await this.#pipes.open();
    // What makes the terminal starts the shell that this variable names.
    const env = request.hasTerminal ? { ...request.env, SHELL: this.shell } : request.env;
    const command = await startCommand({ ...request, env }, { launch, pipe, mark, output });
    if (!hasProc && !request.isKept) this.#tellGuardian(command);
    void this.#boundSpill(command);
    return command;
  }

  async #spill(): Promise<string> {
    try {
      this.#spillDirectory ??= await this.#home.directory('spill');
      return this.#spillDirectory;
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      const advice = 'set LATHE_HOME to a directory that can be written';
      throw new ToolError('shell_execute_error', `No place for the output of commands (${reason}): ${advice}.`, {
        cause,
      });
    }
  }

  /** The oldest files make room for new ones. */
  async #boundSpill({ result, output }: RunningCommand): Promise<void> {
    await result;
    if (output.path === undefined) return;
    this.#spilled.push({ path: output.path, bytes: output.spilledBytes });
    let total = this.#spilled.reduce((sum, { bytes }) => sum + bytes, 0);
    while (total > maxSpilledBytes) {
      const oldest = this.#spilled.shift();
      if (oldest === undefined) return;
      total -= oldest.bytes;
      rmSync(oldest.path, { force: true });
    }
  }

  /** Starts a program with streams of its own: an MCP server, a discovery command. No shell reads its arguments. */
  async startProgram(request: ProgramRequest): Promise<ContainedProgram> {
    await checkProgram(request);
    await this.#guardian.ready();
    // Starting a process holds up everything else for a moment; a hundred servers take turns with the rest.
    this.#turn = this.#turn.then(() => nextTurn());
    await this.#turn;
    const mark = this.#series.next();
    const prelude = this.#prelude(mark, {});
    const marked = this.#marked(mark, request.argv);
    // The shell marks itself and then becomes the program; the arguments reach it as they are, never as shell text.
    const argv =
      prelude === ''
        ? marked
        : [this.shell, ...quietShell(this.shell), '-c', `${prelude}exec -- "$@"`, 'lathe', ...marked];
    const launch = await this.#guarded(request.wrap?.(argv) ?? { argv });
    const program = await startContained(request, launch, mark);
    if (!hasProc) this.#tellGuardian({ pid: program.pid, result: program.exited });
    return program;
  }

  /** What runs before the command, on its first line so that line numbers in messages stay right. */
  #prelude(mark: CallMark, { wrap }: Pick<CommandRequest, 'wrap'>): string {
    const limit = this.#series.limitSetter === 'ulimit' ? `ulimit -R ${mark.value}; ` : '';
    return limit + closingInherited(this.shell) + (wrap && hasProc ? processLimit : '');
  }

  /** Where the shell cannot set the mark, a program does. */
  #marked(mark: CallMark, argv: readonly string[]): readonly string[] {
    const setter = this.#series.limitSetter;
    return setter?.startsWith('/') ? [setter, `--rttime=${mark.value}`, '--', ...argv] : argv;
  }

  #launch(
    request: CommandRequest,
    { mark, prelude, output }: { mark: CallMark; prelude: string; output: CapturedOutput },
  ): Launch {
    const shell = [this.shell, ...quietShell(this.shell), '-c', prelude + request.command];
    const argv = this.#marked(mark, request.hasTerminal ? inTerminal(shell) : shell);
    const launch = request.wrap?.(argv) ?? { argv };
    return request.isKept ? keeping(launch, { shell: this.shell, file: output.path, maxBytes: maxSpillBytes }) : launch;
  }

  /** The guardian removes the placeholders if Lathe dies before their release. */
  async #guarded(launch: Launch, { isKept = false }: Pick<CommandRequest, 'isKept'> = {}): Promise<Launch> {
    const { placeholders = [], release } = launch;
    if (placeholders.length === 0) return launch;
    const forget = await this.#guardian.watchPlaceholders({ paths: placeholders, isKept });
    return {
      ...launch,
      release: () => {
        release?.();
        forget();
      },
    };
  }

  #tellGuardian({ pid, result }: { pid: number; result: Promise<unknown> }): void {
    void this.#guardian.tellGroup('+', pid);
    void result.then(() => this.#guardian.tellGroup('-', pid));
  }
}
