import type { Lathe } from '@lathe/core';
import type { SlashCommand } from '../slash/slash-command.js';
import type { Driver } from '../tui/driver.js';
import { completeCommands } from './complete-commands.js';
import { completePaths } from './complete-paths.js';
import { Completer } from './completer.js';
import { PathIndex } from './path-index.js';

export interface CompleterOptions {
  lathe: Lathe;
  driver: Driver;
  commands: () => readonly SlashCommand[];
  signal: AbortSignal;
}

/** Completes commands and what they take, files, and what the driver knows. */
export function openCompleter({ lathe, driver, commands, signal }: CompleterOptions): Completer {
  const completer = new Completer();
  const index = new PathIndex((stop) => lathe.listPaths(stop), { onChange: () => completer.again(), signal });
  completer.use([
    completeCommands(commands, lathe),
    completePaths(() => index.paths),
    (text, cursor) => driver.complete(text, cursor),
  ]);
  return completer;
}
