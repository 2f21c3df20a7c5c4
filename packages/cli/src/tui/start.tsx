import { type AgentLathe } from '@lathe/agent';
import type { Model } from '@lathe/agent/models';
import type { Flags } from '../command-line/args.js';
import { exitCodes } from '../command-line/exit-codes.js';
import type { Io } from '../command-line/io.js';
import { openCompleter } from '../completion/open-completer.js';
import type { Driver } from '../drivers/driver.js';
import { type Style, styleFor } from '../render/style.js';
import type { ViewContext } from '../render/view-context.js';
import { askBackground } from '../screen/ask-background.js';
import { KeyStream } from '../screen/key-stream.js';
import { show } from '../screen/show.js';
import { summarizeBackground } from '../slash/background-command.js';
import { customCommands, skillCommands } from '../slash/custom-commands.js';
import { promptCommands } from '../slash/mcp-commands.js';
import { slashCommands } from '../slash/slash-commands.js';
import { missingTools, runSessionEndHooks } from '../startup/open-lathe.js';
import { askForTrust } from '../startup/trust-question.js';
import { App } from './app.js';
import { openConversation } from './open-conversation.js';
import { editorCommand, editText } from './prompt/edit-text.js';
import { InputHistory } from './prompt/input-history.js';
import { QuestionQueue } from './questions/question-queue.js';

interface StartOptions {
  /** Replaces the configured model. */
  model?: Model | 'console';
  /** Called if a person without a model chooses the demo. */
  showDemo?: () => Promise<number>;
}

/** Starts the interactive program: an agent if there is a model, else the console. */
export async function startInteractive(
  operands: readonly string[],
  flags: Flags,
  io: Io,
  signal: AbortSignal,
  { model, showDemo = async () => exitCodes.success }: StartOptions,
): Promise<number> {
  await askForTrust(flags, { ...io, cwd: io.worktree?.directory ?? io.cwd }, signal);
  const queue = new QuestionQueue();
  const style = styleFor(io.env);
  // The terminal answers while settings and tools are loaded.
  const background = style.isPlain ? Promise.resolve(undefined) : askBackground(io.stdin, io.terminal);
  const opened = await openConversation({ flags, io, style, queue, signal, model, background });
  if (opened === 'quit') return exitCodes.success;
  if (opened === 'demo') return showDemo();
  const { lathe, driver } = opened;
  const prompts = promptCommands(lathe, signal);
  const custom = await customCommands(lathe);
  const commands = () => [...slashCommands, ...custom.commands, ...skillCommands(lathe), ...prompts.items];
  const greeting = [opened.greeting, ...custom.problems.map((problem) => style.warning(problem))].join('\n');
  const sandbox = await lathe.sandbox.status();
  const editor = editorCommand(io.env, lathe.settings.general.preferredEditor);
  const isScreenReader = lathe.settings.ui.accessibility.screenReader;
  const prompt = operands.join(' ');
  const history = await InputHistory.open(lathe.home, lathe.project);
  const completer = openCompleter({ lathe, isConsole: driver.conversation === undefined, commands, signal });
  prompts.onChange(() => completer.refresh());
  const keys = new KeyStream(io.stdin);
  const app = (
    <App
      lathe={lathe}
      driver={driver}
      queue={queue}
      io={io}
      style={style}
      sandbox={sandbox}
      {...lazyMarkdown(style)}
      isScreenReader={isScreenReader}
      greeting={greeting}
      past={opened.past}
      history={history}
      completer={completer}
      commands={commands}
      discover={async () => {
        await (await lathe.prepareTools(signal)).later;
        return missingTools(lathe.tools);
      }}
      {...(prompt !== '' && { initialPrompt: prompt })}
      editText={(text, name) => editText(text, name, editor)}
    />
  );
  try {
    await show(app, { terminal: io.terminal, keys, isScreenReader, signal });
  } finally {
    await Promise.all([closeSession(opened, io), history.close()]);
  }
  return exitCodes.success;
}

/** Stops background commands, says which still run, and how to come back. */
async function closeSession({ lathe, driver }: { lathe: AgentLathe; driver: Driver }, io: Io): Promise<void> {
  if (driver.conversation !== undefined) await runSessionEndHooks(lathe);
  const running = lathe.background.running();
  const tasks = lathe.subagents.background.list().filter(({ endedAt }) => endedAt === undefined);
  const { id, messages = 0 } = driver.conversation ?? {};
  await lathe.close();
  if (id !== undefined && messages > 0) io.out(`Resume this conversation with: lathe --resume ${id.slice(0, 8)}`);
  if (running.length > 0) io.out(summarizeBackground(running));
  if (tasks.length > 0) io.out(`Stopped background tasks: ${tasks.map((task) => task.id).join(', ')}`);
}

/** Loads the Markdown renderer after the first frame. No answer is shown before `loaded` resolves. */
function lazyMarkdown(style: Style): { markdown: ViewContext['markdown']; loaded: Promise<void> } {
  let renderText: ViewContext['markdown'] | undefined;
  const load = async () => {
    const { renderMarkdown } = await import('../render/markdown.js');
    renderText = (text, width) => renderMarkdown(text, width, style);
  };
  return { loaded: load(), markdown: (text, width) => renderText?.(text, width) ?? text };
}
