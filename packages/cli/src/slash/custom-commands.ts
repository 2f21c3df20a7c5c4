import { join } from 'node:path';
import {
  type AgentEvent,
  type AgentLathe,
  type CommandFile,
  loadCommands,
  type PromptPiece,
  pluginFolders,
  withArguments,
} from '@lathe/agent';
import { type PartUnion, toParts } from '@lathe/core';
import { personalFolders } from '@lathe/core/host';
import { runCalls } from '../drivers/run-calls.js';
import { findCommand, type SlashCommand, type SlashContext } from './slash-command.js';
import { slashCommands } from './slash-commands.js';

/** Commands from the files of the person and of a trusted project. They cannot replace built-in commands. */
export async function customCommands(
  lathe: Pick<AgentLathe, 'workspace' | 'loaded' | 'settings' | 'home' | 'userHome' | 'plugins'>,
): Promise<{ commands: SlashCommand[]; problems: string[] }> {
  const { commands, problems } = await loadCommands({
    workspace: lathe.workspace,
    isTrusted: lathe.loaded.isTrusted,
    personalFolders: personalFolders(lathe).map((folder) => join(folder, 'commands')),
    pluginFolders: pluginFolders(lathe.plugins, 'commands'),
    isTaken: (name) => findCommand(slashCommands, name) !== undefined,
  });
  return { commands: commands.map(customCommand), problems };
}

/** A command that sends a prompt to the model. */
function customCommand({ name, description, pieces, owner }: CommandFile): SlashCommand {
  return {
    name,
    summary: description,
    origin: owner === 'project' ? 'this project' : owner === 'plugin' ? 'a plugin' : 'yours',
    stream: (argument, context) => runCommand(withArguments(pieces, argument), context),
  };
}

/** Each skill as a command of its name, for the person. */
export function skillCommands({ skills }: Pick<AgentLathe, 'skills'>): SlashCommand[] {
  const free = skills.skills.filter(({ name }) => findCommand(slashCommands, name) === undefined);
  return free.map((skill) => ({
    name: skill.name,
    summary: firstLine(skill.description),
    origin: 'a skill',
    stream: (argument, context) => useSkill(skill, argument, context),
  }));
}

const firstLine = (text: string) => (text.length > 80 ? `${text.slice(0, 79)}…` : text);

async function* useSkill(
  skill: AgentLathe['skills']['skills'][number],
  argument: string,
  { lathe, driver, signal }: SlashContext,
): AsyncGenerator<AgentEvent> {
  const text = (await lathe.skills.load(skill)).replaceAll('$ARGUMENTS', () => argument);
  yield* driver.prompt([`Use the skill ${skill.name}${argument === '' ? '.' : `: ${argument}`}\n`, text], signal);
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
