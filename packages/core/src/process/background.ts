import { open } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { ToolError } from '../errors.js';
import { plainText } from '../text/terminal-text.js';
import type { CommandRunner } from './run-command.js';
import type { CommandRequest, CommandResult, RunningCommand } from './running-command.js';

/** A command that runs beside the conversation. */
export interface BackgroundCommand {
  id: string;
  command: string;
  running: RunningCommand;
  /** Present once it is over. */
  result?: CommandResult;
  /** How much of its output has been read so far. */
  readBytes: number;
}

const maxRunning = 16;
/** Of those that are over. */
const maxRemembered = 50;
const maxReadBytes = 20_000;
const maxMatches = 200;
/** Long enough to report a command that fails at once, short enough not to be felt. */
const firstLookMs = 150;

/** The background commands of one session. They end with Lathe. */
export class BackgroundCommands {
  readonly #runner: CommandRunner;
  readonly #commands = new Map<string, BackgroundCommand>();
  #count = 0;

  constructor(runner: CommandRunner) {
    this.#runner = runner;
  }

  async start(request: CommandRequest): Promise<BackgroundCommand> {
    if (this.list().filter(({ result }) => result === undefined).length >= maxRunning)
      throw new ToolError('execution_failed', `${maxRunning} background commands are running; stop one first.`);
    const running = await this.#runner.start({ ...request, takesInput: true, isFollowed: true });
    const id = `bg_${++this.#count}`;
    this.#forgetOldest();
    const command: BackgroundCommand = { id, command: request.command, running, readBytes: 0 };
    this.#commands.set(id, command);
    const over = this.#note(command);
    await Promise.race([over, wait(firstLookMs)]);
    // From here on it must not keep a Lathe alive that has nothing else to do.
    running.unref();
    return command;
  }

  #forgetOldest(): void {
    const over = this.list().filter(({ result }) => result !== undefined);
    for (const { id } of over.slice(0, -maxRemembered)) this.#commands.delete(id);
  }

  async #note(command: BackgroundCommand): Promise<void> {
    command.result = await command.running.result;
  }

  list(): BackgroundCommand[] {
    return [...this.#commands.values()];
  }

  get(id: string): BackgroundCommand {
    const command = this.#commands.get(id);
    if (command) return command;
    const known = [...this.#commands.keys()].join(', ') || 'none';
    throw new ToolError('invalid_tool_params', `No background command ${id}. Known: ${known}.`);
  }

  /** What was printed since the last reading; of much only the end. */
  async read(id: string): Promise<string> {
    const command = this.get(id);
    const { output } = command.running;
    const start = Math.max(command.readBytes, output.totalBytes - maxReadBytes);
    const skipped = start - command.readBytes;
    const bytes = await output.bytes(start, maxReadBytes);
    command.readBytes = start + bytes.length;
    const note = skipped > 0 ? `[… ${skipped} bytes left out; see ${output.path ?? 'the output file'} …]\n` : '';
    return note + plainText(bytes.toString('utf8'));
  }

  /** The lines of the whole output that contain `text`, in any case of letters. */
  async search(id: string, text: string): Promise<string[]> {
    const { path } = this.get(id).running.output;
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

  /** Types a line. */
  send(id: string, text: string): void {
    const { result, running } = this.get(id);
    if (result !== undefined || running.input === null || !running.input.writable)
      throw new ToolError('execution_failed', `${id} takes no input any more.`);
    running.input.write(`${text}\n`);
  }

  async stop(id: string): Promise<CommandResult> {
    const { running } = this.get(id);
    running.stop({ type: 'abort' });
    return running.result;
  }

  async stopAll(): Promise<void> {
    await Promise.all([...this.#commands.keys()].map((id) => this.stop(id)));
  }
}
