import { closestNames, visibleText } from '@lathe/core/host';
import { errorMessage } from '../command-line/error-message.js';
import { findCommand, type SlashContext, splitCommand } from '../slash/slash-command.js';
import type { Input } from './prompt/prompt.js';
import type { useAgentStream } from './use-agent-stream.js';

/** Runs `/name argument` and shows its output. */
export async function runSlashCommand(
  input: Input,
  context: SlashContext,
  { send, follow }: Pick<ReturnType<typeof useAgentStream>, 'send' | 'follow'>,
): Promise<void> {
  const { name, argument } = splitCommand(input.text);
  const command = findCommand(context.commands, name);
  const warn = (text: string) =>
    send({ type: 'add', item: { type: 'notice', level: 'warning', text: visibleText(text) } });
  if (command && 'stream' in command) return follow(input.shown, command.stream(argument, context));
  send({ type: 'add', item: { type: 'prompt', text: visibleText(input.shown) } });
  if (!command) return warn(`Unknown command /${name}. ${hintFor(name, context)}/help lists the commands.`);
  try {
    return await command.run(argument, context);
  } catch (error) {
    return warn(errorMessage(error));
  }
}

/** Names the command that was probably meant. */
function hintFor(name: string, { commands }: SlashContext): string {
  const within = Math.floor(name.length / 2);
  const names = commands.map((each) => each.name);
  const [meant] = name.length < 3 ? [] : closestNames(name, names, { count: 1, within });
  return meant === undefined ? '' : `Did you mean /${meant}? `;
}
