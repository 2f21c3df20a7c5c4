import type { AgentEvent } from '@lathe/agent';
import { errorMessage } from '../command-line/error-message.js';
import { fenced } from '../render/fenced.js';
import { styleFor } from '../render/style.js';
import type { SlashCommand, SlashContext } from './slash-command.js';

/** The built-in commands that need no keys and no screen. */
export const plainCommands: ReadonlySet<string> = new Set(
  'agents background compact context cost diff init mcp memory permissions todos tools undo'.split(' '),
);

/** Runs a command for a front end that only shows events: what the command prints becomes an answer. */
export function runWithoutScreen(
  command: SlashCommand,
  argument: string,
  parts: Pick<SlashContext, 'lathe' | 'driver' | 'io' | 'commands' | 'signal'>,
): AsyncIterable<AgentEvent> {
  const printed: string[] = [];
  const context: SlashContext = {
    ...parts,
    style: styleFor({ NO_COLOR: '1' }),
    print: (line) => void printed.push(line),
    show: () => {},
    choose: async () => undefined,
    clearScreen: () => {},
    draft: () => {},
    quit: () => {},
  };
  if ('stream' in command) return command.stream(argument, context);
  return printing(async () => command.run(argument, context), printed);
}

async function* printing(run: () => Promise<void>, printed: readonly string[]): AsyncGenerator<AgentEvent> {
  try {
    await run();
    yield { type: 'text-delta', text: `${fenced(printed.join('\n'))}\n` };
  } catch (error) {
    yield { type: 'notice', level: 'warning', message: errorMessage(error) };
  }
}
