import type { Invocation } from './args.js';
import type { Io } from './io.js';

export interface Command {
  /** More operands are wrong usage; a command without this judges its own. */
  maxOperands?: number;
  /** Returns the exit code. */
  run(invocation: Invocation, io: Io, signal: AbortSignal): Promise<number>;
}

/** Name → where it is. Each command is loaded when it is called. */
const loaders: Record<string, () => Promise<{ command: Command }>> = {
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

export const commandNames: ReadonlySet<string> = new Set(Object.keys(loaders));

/** The command of that name; without a name the agent itself. */
export async function findCommand(name: string | undefined): Promise<Command> {
  const load = name === undefined ? () => import('./commands/agent.js') : loaders[name];
  if (!load) throw new Error(`no command named ${name}`);
  return (await load()).command;
}
