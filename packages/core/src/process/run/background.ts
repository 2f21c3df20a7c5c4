import { open, stat } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { ToolError } from '../../contract/errors.js';
import { plainText } from '../../text/visible-text.js';
import type { CommandPorts, OpenPort } from '../network/command-ports.js';
import type { KeptCommands } from './kept-commands.js';
import type { CommandRunner } from './run-command.js';
import type { CommandRequest, CommandResult, RunningCommand } from './running-command.js';

/** A command that runs in the background of the conversation. */
export interface BackgroundCommand {
  id: string;
  command: string;
  /** The command outlives Lathe. */
  isKept: boolean;
  running: RunningCommand;
  /** Present once the command has ended. */
  result?: CommandResult;
  /** How much of its output has been read so far. */
  readBytes: number;
  /** Its ports that programs outside the sandbox can reach, or why there are none. */
  ports?: CommandPorts | string;
}

type PortOpener = (onOpen: (port: OpenPort) => void) => CommandPorts | string;

const maxRunning = 16;
/** Ended commands to remember. */
const maxRemembered = 50;
const maxReadBytes = 20_000;
const maxMatches = 200;

/** The background commands of one session. They end with Lathe unless they are kept. */
export class BackgroundCommands {
  /** The kept commands of all sessions. */
  readonly kept: KeptCommands;
  /** Called when programs outside the sandbox can reach a port of a command. */
  onPort: ((command: BackgroundCommand, port: OpenPort) => void) | undefined;
  readonly #runner: CommandRunner;
  readonly #firstLookMs: number;
  readonly #commands = new Map<string, BackgroundCommand>();
  #count = 0;

  /** `firstLookMs` is long enough to report a command that fails immediately, and short enough to go unnoticed. */
  constructor(runner: CommandRunner, kept: KeptCommands, firstLookMs = 150) {
    this.#runner = runner;
    this.kept = kept;
    this.#firstLookMs = firstLookMs;
  }

  async start(request: CommandRequest): Promise<BackgroundCommand> {
    if (this.running().length >= maxRunning)
      throw new ToolError('execution_failed', `${maxRunning} background commands are running; stop one first.`);
    const isKept = request.isKept ?? false;
    const hasTerminal = !isKept && (request.hasTerminal ?? false);
    const running = await this.#runner.start({ ...request, hasTerminal, takesInput: !isKept, isFollowed: true });
    // The id of a kept command must be the same in every session.
    const id = isKept ? `kept_${running.pid}` : `bg_${++this.#count}`;
    this.#forgetOldest();
    const command: BackgroundCommand = { id, command: request.command, isKept, running, readBytes: 0 };
    this.#commands.set(id, command);
    const ended = this.#storeResult(command);
    if (isKept) await this.#remember(command, request.cwd);
    await Promise.race([ended, wait(this.#firstLookMs)]);
    if (isKept && command.result) await running.output.adopt();
    // From here on the command must not keep an idle Lathe running.
    running.unref();
    return command;
  }

  /** Lets programs outside the sandbox reach the command. */
  async openPorts(command: BackgroundCommand, opener: PortOpener): Promise<void> {
    command.ports = opener((port) => this.onPort?.(command, port));
    if (typeof command.ports !== 'string') await command.ports.look();
  }

  async #remember({ id, command, running }: BackgroundCommand, cwd: string): Promise<void> {
    const { pid, output, mark } = running;
    const { value, isLimit } = mark;
    try {
      await this.kept.remember({ id, pid, command, cwd, output: output.path ?? '', mark: value, isLimit });
    } catch (error) {
      // Without its record nothing could find the command again.
      await this.stop(id);
      throw error;
    }
  }

  #forgetOldest(): void {
    const ended = this.list().filter(({ result }) => result !== undefined);
    for (const { id } of ended.slice(0, -maxRemembered)) this.#commands.delete(id);
  }

  async #storeResult(command: BackgroundCommand): Promise<void> {
    command.result = await command.running.result;
  }

  list(): BackgroundCommand[] {
    return [...this.#commands.values()];
  }

  running(): BackgroundCommand[] {
    return this.list().filter(({ result }) => result === undefined);
  }

  get(id: string): BackgroundCommand {
    const command = this.#commands.get(id);
    if (command) return command;
    const known = [...this.#commands.keys()].join(', ') || 'none';
    throw new ToolError('invalid_tool_params', `No background command ${id}. Known: ${known}.`);
  }

  /** Returns the output since the last call; only its end if there is much. */
  async read(id: string): Promise<string> {
    const command = this.get(id);
    const { output } = command.running;
    output.flush();
    const size = output.path === undefined ? 0 : (await stat(output.path)).size;
    const start = Math.max(command.readBytes, size - maxReadBytes);
    const skipped = start - command.readBytes;
    const bytes = await output.bytes(start, maxReadBytes);
    command.readBytes = start + bytes.length;
    const note = skipped > 0 ? `[… ${skipped} bytes left out; see ${output.path ?? 'the output file'} …]\n` : '';
    return note + plainText(bytes.toString('utf8'));
  }

  /** The lines of the whole output that contain `text`, ignoring case. */
  async search(id: string, text: string): Promise<string[]> {
    const { output } = this.get(id).running;
    const { path } = output;
    output.flush();
    if (path === undefined) return [];
    const file = await open(path);
    const matches: string[] = [];
    const wanted = text.toLowerCase();
    for await (const line of file.readLines()) {
      if (line.toLowerCase().includes(wanted)) matches.push(plainText(line).slice(0, 500));
      if (matches.length > maxMatches) matches.shift();
    }
    return matches;
  }

  /** Writes a line to stdin. */
  send(id: string, text: string): void {
    const { result, running } = this.get(id);
    if (result !== undefined || running.input === null || !running.input.writable)
      throw new ToolError('execution_failed', `${id} takes no input.`);
    running.input.write(`${text}\n`);
  }

  async stop(id: string): Promise<CommandResult> {
    const { running } = this.get(id);
    running.stop({ type: 'abort' });
    return running.result;
  }

  /** Stops all commands that are not kept. */
  async stopAll(): Promise<void> {
    const stoppable = this.list().filter(({ isKept }) => !isKept);
    await Promise.all(stoppable.map(({ id }) => this.stop(id)));
  }
}
