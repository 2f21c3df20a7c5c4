import { type CommandName, commandNames } from '../command-line/command-names.js';
import type { Command } from './command.js';

/** Each command is loaded when it is called. */
const loaders: Record<CommandName, () => Promise<{ command: Command }>> = {
  tools: () => import('./tools.js'),
  call: () => import('./call.js'),
  console: () => import('./console.js'),
  sessions: () => import('./sessions.js'),
  view: () => import('./view.js'),
  undo: () => import('./undo.js'),
  mcp: () => import('./mcp.js'),
  plugin: () => import('./plugin.js'),
  demo: () => import('./demo.js'),
  serve: () => import('./serve.js'),
  acp: () => import('./acp.js'),
  trust: () => import('./trust.js'),
  completion: () => import('./completion.js'),
  doctor: () => import('./doctor.js'),
  clean: () => import('./clean.js'),
  audit: () => import('./audit.js'),
  batch: () => import('./batch.js'),
  fleet: () => import('./fleet.js'),
};

/** Finds a command by name; without a name, the agent. */
export async function findCommand(name: string | undefined): Promise<Command> {
  if (name === undefined) return (await import('./agent.js')).command;
  const known = commandNames.find((each) => each === name);
  if (!known) throw new Error(`no command named ${name}`);
  return (await loaders[known]()).command;
}
