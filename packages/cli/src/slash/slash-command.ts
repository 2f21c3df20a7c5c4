import type { Lathe } from '@lathe/core';
import type { Io } from '../io.js';
import type { Style } from '../render/style.js';
import type { Driver } from '../tui/driver.js';

/** What a slash command may use and do. */
export interface SlashContext {
  lathe: Lathe;
  driver: Driver;
  io: Io;
  style: Style;
  signal: AbortSignal;
  /** Puts text into the scrollback. */
  say: (text: string) => void;
  clearScreen: () => void;
  quit: () => void;
}

export interface SlashCommand {
  name: string;
  /** One line for /help. */
  summary: string;
  run(argument: string, context: SlashContext): void | Promise<void>;
}
