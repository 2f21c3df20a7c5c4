import type { Model } from '@lathe/agent/models';
import type { Lathe } from '@lathe/core';
import type { Flags } from '../command-line/args.js';
import { exitCodes } from '../command-line/exit-codes.js';
import type { Io } from '../command-line/io.js';
import { openCompleter } from '../completion/open-completer.js';
import type { Driver } from '../drivers/driver.js';
import { type Style, styleFor } from '../render/style.js';
import type { ViewContext } from '../render/view-context.js';
import { KeyStream } from '../screen/key-stream.js';
import { show } from '../screen/show.js';
import { fateOf } from '../slash/background-command.js';
import { customCommands } from '../slash/custom-commands.js';
import { promptCommands } from '../slash/mcp-commands.js';
import { slashCommands } from '../slash/slash-commands.js';
import { tellEnd } from '../startup/open-lathe.js';
import { askForTrust } from '../startup/trust-question.js';
import { App } from './app.js';
import { openConversation } from './open-conversation.js';
import { editorCommand, editText } from './prompt/edit-text.js';
import { InputHistory } from './prompt/input-history.js';
import { QuestionQueue } from './questions/question-queue.js';

interface StartOptions {
  /** Instead of the one that is found. */
  model?: Model | 'console';
  /** What happens when a person without a model wants to see one at work. */
  showDemo?: () => Promise<number>;
}

/** The interactive program: an agent when there is a model (a given one, or the one that is found), else the console. */
export async function startInteractive(
  operands: readonly string[],
  flags: Flags,
  io: Io,
  signal: AbortSignal,
  { model, showDemo = async () => exitCodes.success }: StartOptions,
): Promise<number> {
  await askForTrust(flags, io, signal);
  const queue = new QuestionQueue();
  const style = styleFor(io.env);
  const opened = await openConversation({ flags, io, style, queue, signal, model });
  if (opened === 'leave') return exitCodes.success;
  if (opened === 'demo') return showDemo();
  const { lathe, driver } = opened;
  const prompts = promptCommands(lathe, signal);
  const custom = await customCommands(lathe);
  const commands = () => [...slashCommands, ...custom.commands, ...prompts.items];
  const greeting = [opened.greeting, ...custom.problems.map((problem) => style.warning(problem))].join('\n');
  const sandbox = (await lathe.sandbox.status()).text;
  const editor = editorCommand(io.env, lathe.settings.general.preferredEditor);
  const isSpoken = lathe.settings.ui.accessibility.screenReader;
  const prompt = operands.join(' ');
  const history = await InputHistory.open(lathe.home, lathe.workspace.root);
  const completer = openCompleter({ lathe, driver, commands, signal });
  prompts.onChange(() => completer.again());
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
      isSpoken={isSpoken}
      greeting={greeting}
      history={history}
      completer={completer}
      commands={commands}
      {...(prompt !== '' && { initialPrompt: prompt })}
      editText={async (text, name) => {
        keys.release();
        try {
          return await editText(text, name, editor);
        } finally {
          keys.resumeKeys();
        }
      }}
    />
  );
  try {
    const shown = show(app, { terminal: io.terminal, keys, isSpoken, signal });
    // Behind the first frame: a hundred servers take their time to start.
    void lathe.discover(signal);
    await shown;
  } finally {
    await Promise.all([endWith(opened, io), history.close()]);
  }
  return exitCodes.success;
}

/** Ends what runs in the background, and says what became of it. */
async function endWith({ lathe, driver }: { lathe: Lathe; driver: Driver }, io: Io): Promise<void> {
  if (driver.conversation !== undefined) await tellEnd(lathe);
  const running = lathe.background.running();
  await lathe.close();
  if (running.length > 0) io.out(fateOf(running));
}

/** The renderer is loaded behind the first frame; no answer is shown before it is there. */
function lazyMarkdown(style: Style): { markdown: ViewContext['markdown']; loaded: Promise<void> } {
  let renderText: ViewContext['markdown'] | undefined;
  const load = async () => {
    const { renderMarkdown } = await import('../render/markdown.js');
    renderText = (text, width) => renderMarkdown(text, width, style);
  };
  return { loaded: load(), markdown: (text, width) => renderText?.(text, width) ?? text };
}
