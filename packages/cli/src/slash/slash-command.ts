import type { AgentEvent, AgentLathe } from '@lathe/agent';
import type { Io } from '../command-line/io.js';
import type { Driver } from '../drivers/driver.js';
import type { HistoryItem } from '../render/history-item.js';
import type { Style } from '../render/style.js';
import type { Choice } from '../screen/choice-list.js';

/** What a slash command can use. */
export interface SlashContext {
  lathe: AgentLathe;
  driver: Driver;
  io: Io;
  style: Style;
  /** All commands. */
  commands: readonly SlashCommand[];
  /** Aborted by Esc. */
  signal: AbortSignal;
  /** Adds text to the scrollback. */
  print: (text: string) => void;
  /** Adds anything else to the scrollback. */
  show: (items: readonly HistoryItem[]) => void;
  /** Lets the person choose from a list; `undefined` if they choose nothing. All text must be sanitized. */
  choose: (list: {
    title: string;
    choices: readonly Choice<string>[];
    initial?: number;
    takesText?: boolean;
  }) => Promise<string | undefined>;
  clearScreen: () => void;
  /** Puts a text into the prompt, unless the person has typed something. */
  draft: (text: string) => void;
  quit: () => void;
}

interface CommandInfo {
  name: string;
  /** One line, shown by /help. */
  summary: string;
  /** Where it comes from; missing for built-in commands. */
  origin?: string;
  /** Offered as completions. */
  arguments?: () => readonly string[];
}

/** `run` prints text; `stream` yields events that are shown like those of an agent. */
export type SlashCommand = CommandInfo &
  (
    | { run: (argument: string, context: SlashContext) => void | Promise<void> }
    | { stream: (argument: string, context: SlashContext) => AsyncIterable<AgentEvent> }
  );

/** Splits `/name argument`. */
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
