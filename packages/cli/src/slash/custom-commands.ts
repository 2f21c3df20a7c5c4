import { join } from 'node:path';
import { type AgentEvent, type CommandFile, loadCommands, type PromptPiece, withArguments } from '@lathe/agent';
import { type Lathe, type PartUnion, toParts } from '@lathe/core';
import { callEvents } from '../drivers/run-calls.js';
import { findCommand, type SlashCommand, type SlashContext } from './slash-command.js';
import { slashCommands } from './slash-commands.js';

/** The commands that files of the person and of a trusted project define, none of them with a name of ours. */
export async function customCommands(
  lathe: Pick<Lathe, 'workspace' | 'loaded' | 'home' | 'userHome'>,
): Promise<{ commands: SlashCommand[]; problems: string[] }> {
  const { commands, problems } = await loadCommands({
    workspace: lathe.workspace,
    isTrusted: lathe.loaded.isTrusted,
    personalFolders: [join(lathe.home.path, 'commands'), join(lathe.userHome, '.qwen', 'commands')],
    isTaken: (name) => findCommand(slashCommands, name) !== undefined,
  });
  return { commands: commands.map(customCommand), problems };
}

/** A prompt for the model. */
function customCommand({ name, description, pieces, owner }: CommandFile): SlashCommand {
  return {
    name,
    summary: description,
    origin: owner === 'project' ? 'this project' : 'yours',
    stream: (argument, context) => runCommand(withArguments(pieces, argument), context),
  };
}

async function* runCommand(pieces: readonly PromptPiece[], context: SlashContext): AsyncGenerator<AgentEvent> {
  const { driver, signal } = context;
  const content: PartUnion[] = [];
  // Without a model nothing needs to be brought in: the driver says so.
  for (const piece of driver.conversation ? pieces : []) {
    const brought = piece.type === 'text' ? [piece.text] : yield* bring(piece, context);
    if (brought === undefined) {
      const message = `Nothing was sent to the model: ${piece.text} could not be brought in.`;
      yield { type: 'notice', level: 'warning', message };
      return;
    }
    content.push(...brought);
  }
  yield* driver.prompt(content, signal);
}

/** The output of a command or the content of a file, under the same rules and questions as any call. */
async function* bring(
  { type, text }: PromptPiece,
  { lathe, signal }: SlashContext,
): AsyncGenerator<AgentEvent, PartUnion[] | undefined> {
  const call =
    type === 'command'
      ? { name: 'run_shell_command', args: { command: text } }
      : { name: 'read_many_files', args: { paths: [text] } };
  const [outcome] = yield* callEvents(lathe, [call], signal);
  return outcome?.status === 'success' ? toParts(outcome.llmContent) : undefined;
}
