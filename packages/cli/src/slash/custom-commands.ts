import { join } from 'node:path';
import {
  type AgentEvent,
  type AgentLathe,
  type CommandFile,
  loadCommands,
  type PromptPiece,
  withArguments,
} from '@lathe/agent';
import { type PartUnion, toParts } from '@lathe/core';
import { personalFolders } from '@lathe/core/host';
import { runCalls } from '../drivers/run-calls.js';
import { findCommand, type SlashCommand, type SlashContext } from './slash-command.js';
import { slashCommands } from './slash-commands.js';

/** Commands from the files of the person and of a trusted project. They cannot replace built-in commands. */
export async function customCommands(
  lathe: Pick<AgentLathe, 'workspace' | 'loaded' | 'settings' | 'home' | 'userHome'>,
): Promise<{ commands: SlashCommand[]; problems: string[] }> {
  const { commands, problems } = await loadCommands({
    workspace: lathe.workspace,
    isTrusted: lathe.loaded.isTrusted,
    personalFolders: personalFolders(lathe).map((folder) => join(folder, 'commands')),
    isTaken: (name) => findCommand(slashCommands, name) !== undefined,
  });
  return { commands: commands.map(customCommand), problems };
}

/** A command that sends a prompt to the model. */
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
  // Without a model nothing is loaded, and the driver says that it has none.
  for (const piece of driver.conversation ? pieces : []) {
    const loaded = piece.type === 'text' ? [piece.text] : yield* load(piece, context);
    if (loaded === undefined) {
      const message = `Could not load ${piece.text}, so nothing was sent to the model.`;
      yield { type: 'notice', level: 'warning', message };
      return;
    }
    content.push(...loaded);
  }
  yield* driver.prompt(content, signal);
}

/** Loads the output of a command or the content of a file, under the same rules as any call. */
async function* load(
  { type, text }: PromptPiece,
  { lathe, signal }: SlashContext,
): AsyncGenerator<AgentEvent, PartUnion[] | undefined> {
  const call =
    type === 'command'
      ? { name: 'run_shell_command', args: { command: text } }
      : { name: 'read_many_files', args: { paths: [text] } };
  const [outcome] = yield* runCalls(lathe, [call], signal);
  return outcome?.status === 'success' ? toParts(outcome.llmContent) : undefined;
}
