import { existsSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ToolError } from '../../contract/errors.js';
import type { LatheHome } from '../../files/lathe-home.js';
import { SpillStore } from '../../files/spill.js';
import { assertNode } from './assert-node.js';
import { type CallMark, MarkSeries } from './call-mark.js';
import { CapturedOutput } from './captured-output.js';
import {
  type ContainedProgram,
  checkProgram,
  type Launch,
  type ProgramRequest,
  startContained,
} from './contained-program.js';
import { closingInherited } from './descriptors.js';
import { Guardian, quietShell } from './guardian.js';
import { inTerminal } from './in-terminal.js';
import { keepRunning } from './keep-running.js';
import { OutputPipes } from './output-pipe.js';
import { hasProc } from './process-tree.js';
import { type ResourceLimits, setLimits, usualLimits } from './resource-limits.js';
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
  readonly #pipes: OutputPipes;
  #programTurn: Promise<void> = Promise.resolve();

  constructor(home: LatheHome, options: RunnerOptions = {}) {
    assertNode();
    this.shell =
      options.shell ?? (existsSync('/bin/bash') ? '/bin/bash' : (trustedPath('bash', { outside: [] }) ?? '/bin/sh'));
    this.#spill = options.spill ?? new SpillStore(home);
    this.#limits = setLimits(options.limits ?? usualLimits);
    this.#guardian = new Guardian(this.shell, this.#series, () => home.directory('run'));
    this.#pipes = new OutputPipes(() => this.#guardian.makePipe());
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
    const pipe = await this.#pipes.open();
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
      const reason = cause instanceof Error ? cause.message : String(cause);
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
