import { type AgentLathe } from '@lathe/agent';
import type { SlashCommand } from '../slash/slash-command.js';
import { completeCalls } from './complete-call.js';
import { completeCommands } from './complete-commands.js';
import { completePaths } from './complete-paths.js';
import { matchingMentions, resourceMentions } from './complete-resources.js';
import { Completer } from './completer.js';
import { PathIndex } from './path-index.js';

export interface CompleterOptions {
  lathe: Pick<AgentLathe, 'listPaths' | 'tools' | 'sources'>;
  /** The person types tool calls, not prompts. */
  isConsole: boolean;
  commands: () => readonly SlashCommand[];
  signal: AbortSignal;
}

/** Completes commands and their arguments, files, resources, and tool calls in the console. */
export function openCompleter({ lathe, isConsole, commands, signal }: CompleterOptions): Completer {
  const completer = new Completer();
  const index = new PathIndex((stop) => lathe.listPaths(stop), { onChange: () => completer.refresh(), signal });
  const resources = resourceMentions(lathe, signal);
  lathe.tools.onChange(() => completer.refresh());
  resources.onChange(() => completer.refresh());
  completer.setSources([
    completeCommands(commands),
    completePaths(
      () => index.paths,
      (query) => matchingMentions(resources.items, query),
    ),
    ...(isConsole ? [completeCalls(() => lathe.tools.getAllTools())] : []),
  ]);
  return completer;
}
