import type { AgentEvent, AgentLathe } from '@lathe/agent';
import type { Lathe } from '@lathe/core';
import type { Io } from '../command-line/io.js';
import type { Driver } from '../drivers/driver.js';
import type { Style } from '../render/style.js';

/** What a slash command may use and do. */
export interface SlashContext {
  lathe: AgentLathe;
  driver: Driver;
  io: Io;
  style: Style;
  /** Every command there is. */
  commands: readonly SlashCommand[];
  /** Esc was pressed. */
  signal: AbortSignal;
  /** Puts text into the scrollback. */
  say: (text: string) => void;
  clearScreen: () => void;
  quit: () => void;
}

interface Described {
  name: string;
  /** One line for /help. */
  summary: string;
  /** Where it comes from, when it is not one of ours. */
  origin?: string;
  /** What could be given to it. */
  arguments?: (context: { lathe: Lathe }) => readonly string[];
}

/** Either says something, or does work that is shown as an agent's. */
export type SlashCommand = Described &
  (
    | { run: (argument: string, context: SlashContext) => void | Promise<void> }
    | { stream: (argument: string, context: SlashContext) => AsyncIterable<AgentEvent> }
  );

/** `/name argument`, taken apart. */
export function splitCommand(input: string): { name: string; argument: string } {
  const [, name = '', argument = ''] = /^\/(\S*)\s*([\s\S]*)$/.exec(input) ?? [];
  return { name, argument: argument.trim() };
}

const aliases: Readonly<Record<string, string>> = {
  exit: 'quit',
  '?': 'help',
  q: 'quit',
  resume: 'sessions',
  tasks: 'background',
};

export function findCommand(commands: readonly SlashCommand[], name: string): SlashCommand | undefined {
  const wanted = Object.hasOwn(aliases, name) ? aliases[name] : name;
  return commands.find((known) => known.name === wanted);
}
