import { type Command, commandNames } from './commands/command.js';

/** Name → where it is. Each command is loaded when it is called. */
const loaders: Record<(typeof commandNames)[number], () => Promise<{ command: Command }>> = {
  tools: () => import('./commands/tools.js'),
  call: () => import('./commands/call.js'),
  console: () => import('./commands/console.js'),
  sessions: () => import('./commands/sessions.js'),
  view: () => import('./commands/view.js'),
  undo: () => import('./commands/undo.js'),
  mcp: () => import('./commands/mcp.js'),
  demo: () => import('./commands/demo.js'),
  serve: () => import('./commands/serve.js'),
  trust: () => import('./commands/trust.js'),
  completion: () => import('./commands/completion.js'),
  doctor: () => import('./commands/doctor.js'),
};

/** The command of that name; without a name the agent itself. */
export async function findCommand(name: string | undefined): Promise<Command> {
  if (name === undefined) return (await import('./commands/agent.js')).command;
  const known = commandNames.find((each) => each === name);
  if (!known) throw new Error(`no command named ${name}`);
  return (await loaders[known]()).command;
}
