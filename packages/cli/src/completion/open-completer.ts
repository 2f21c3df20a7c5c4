import type { Lathe } from '@lathe/core';
import type { Driver } from '../drivers/driver.js';
import type { SlashCommand } from '../slash/slash-command.js';
import { completeCommands } from './complete-commands.js';
import { completePaths } from './complete-paths.js';
import { mentionsLike, resourceMentions } from './complete-resources.js';
import { Completer } from './completer.js';
import { PathIndex } from './path-index.js';

export interface CompleterOptions {
  lathe: Lathe;
  driver: Driver;
  commands: () => readonly SlashCommand[];
  signal: AbortSignal;
}

/** Completes commands and what they take, files, resources, and what the driver knows. */
export function openCompleter({ lathe, driver, commands, signal }: CompleterOptions): Completer {
  const completer = new Completer();
  const index = new PathIndex((stop) => lathe.listPaths(stop), { onChange: () => completer.again(), signal });
  const resources = resourceMentions(lathe, signal);
  lathe.registry.onChange(() => completer.again());
  resources.onChange(() => completer.again());
  completer.use([
    completeCommands(commands, lathe),
    completePaths(
      () => index.paths,
      (query) => mentionsLike(resources.items, query),
    ),
    (text, cursor) => driver.complete(text, cursor),
  ]);
  return completer;
}
