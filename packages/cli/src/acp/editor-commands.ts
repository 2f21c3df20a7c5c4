import type { AgentEvent, AgentLathe } from '@lathe/agent';
import { visibleText } from '@lathe/core/host';
import type { Io } from '../command-line/io.js';
import type { Driver } from '../drivers/driver.js';
import { customCommands } from '../slash/custom-commands.js';
import { promptCommands } from '../slash/mcp-commands.js';
import { plainCommands, runWithoutScreen } from '../slash/run-without-screen.js';
import { findCommand, type SlashCommand, splitCommand } from '../slash/slash-command.js';
import { slashCommands } from '../slash/slash-commands.js';
import type { SessionClient } from './session-client.js';

/** The slash commands of a session: some of the terminal's, those of files, and the prompts of MCP servers. */
export class EditorCommands {
  readonly #client: SessionClient;
  readonly #own: readonly SlashCommand[];
  readonly #prompts: ReturnType<typeof promptCommands>;
  /** What is wrong with command files. */
  readonly problems: readonly string[];

  constructor(
    client: SessionClient,
    prompts: ReturnType<typeof promptCommands>,
    { commands, problems }: Awaited<ReturnType<typeof customCommands>>,
  ) {
    this.#client = client;
    this.#own = [...slashCommands.filter(({ name }) => plainCommands.has(name)), ...commands];
    this.#prompts = prompts;
    this.problems = problems;
    prompts.onChange(() => void this.announce());
  }

  get #all(): SlashCommand[] {
    return [...this.#own, ...this.#prompts.items];
  }

  /** Tells the editor which commands there are. */
  async announce(): Promise<void> {
    const availableCommands = this.#all.map(({ name, summary, arguments: values }) => ({
      name: visibleText(name),
      description: visibleText(summary),
      ...(values && { input: { hint: visibleText(values().join(' ')) } }),
    }));
    await this.#client.update({ sessionUpdate: 'available_commands_update', availableCommands });
  }

  /** The events of `/name argument`; `undefined` if the text is none of the commands, such as `/usr/bin`. */
  run(
    text: string,
    parts: { lathe: AgentLathe; driver: Driver; io: Io; signal: AbortSignal },
  ): AsyncIterable<AgentEvent> | undefined {
    const { name, argument } = splitCommand(text.trim());
    const command = name === '' ? undefined : findCommand(this.#all, name);
    return command && runWithoutScreen(command, argument, { ...parts, commands: this.#all });
  }
}
