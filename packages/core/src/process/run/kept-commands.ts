import { readdir, readFile, rm } from 'node:fs/promises';
import { ToolError } from '../../contract/errors.js';
import type { LatheHome } from '../../files/lathe-home.js';
import { CallMark, hasProc, ProcessTree } from './process-tree.js';

/** A command that may outlive the Lathe that started it. */
export interface KeptCommand {
  id: string;
  pid: number;
  command: string;
  cwd: string;
  /** The file with its output. */
  output: string;
  /** Identifies its processes: the pid alone may belong to another process by now. */
  mark: number;
  isLimit: boolean;
}

/** The kept commands of all sessions, one small file each in Lathe's home. Without /proc there are none. */
export class KeptCommands {
  readonly #home: LatheHome;

  constructor(home: LatheHome) {
    this.#home = home;
  }

  async remember(command: KeptCommand): Promise<void> {
    if (!hasProc) return;
    await rm(this.#file(command.id), { force: true });
    await this.#home.createFile(['kept', `${command.id}.json`], JSON.stringify(command));
  }

  /** The commands that still run. */
  async list(): Promise<KeptCommand[]> {
    const names = await readdir(this.#home.file('kept')).catch(() => []);
    const ids = names.flatMap((name) => /^(kept_\d+)\.json$/.exec(name)?.[1] ?? []);
    const found = await Promise.all(ids.map((id) => this.#find(id)));
    return found.flatMap((command) => command ?? []);
  }

  /** Kills the command and all its descendants; returns the processes that could not be killed. */
  async stop(id: string): Promise<number[]> {
    const command = (await this.list()).find((known) => known.id === id);
    if (command === undefined) throw new ToolError('invalid_tool_params', `Nothing called ${id} is running.`);
    const mark = markOf(command);
    // Not the recorded pid: it may belong to another process by now.
    const [first] = mark.processes(0);
    const survivors = first === undefined ? [] : await new ProcessTree(first, mark).end({ isPolite: true });
    if (survivors.length === 0) await rm(this.#file(id), { force: true });
    return survivors;
  }

  async #find(id: string): Promise<KeptCommand | undefined> {
    const command = await readCommand(this.#file(id));
    if (command !== undefined && markOf(command).processes(0).length > 0) return command;
    await rm(this.#file(id), { force: true });
    return undefined;
  }

  #file(id: string): string {
    return this.#home.file('kept', `${id}.json`);
  }
}

async function readCommand(path: string): Promise<KeptCommand | undefined> {
  try {
    const value: unknown = JSON.parse(await readFile(path, 'utf8'));
    return isKeptCommand(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isKeptCommand(value: unknown): value is KeptCommand {
  if (typeof value !== 'object' || value === null) return false;
  const has = (name: string, type: string) => typeof Reflect.get(value, name) === type;
  const texts = ['id', 'command', 'cwd', 'output'].every((name) => has(name, 'string'));
  return texts && has('pid', 'number') && has('mark', 'number') && has('isLimit', 'boolean');
}

function markOf({ mark, isLimit }: KeptCommand): CallMark {
  return new CallMark(mark, { isLimit, startedAt: Number.NEGATIVE_INFINITY });
}
