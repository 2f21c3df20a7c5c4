import type { Model } from '@lathe/core';
import { render } from 'ink';
import type { Flags } from '../args.js';
import { exitCodes } from '../exit-codes.js';
import type { Io } from '../io.js';
import { type Style, styleFor } from '../render/style.js';
import type { ViewContext } from '../render/view-context.js';
import { askForTrust } from '../trust-question.js';
import { App } from './app.js';
import { ApprovalQueue } from './approval-queue.js';
import { editorCommand, editText } from './edit-text.js';
import { disablePaste, enablePaste, KeyStream } from './key-stream.js';
import { openConversation } from './open-conversation.js';
import { endlessTerminal } from './terminal-size.js';

/** The interactive program: an agent when there is a model (a given one, or the one that is found), else the console. */
export async function startInteractive(
  operands: readonly string[],
  flags: Flags,
  io: Io,
  signal: AbortSignal,
  model?: Model,
): Promise<number> {
  await askForTrust(flags, io, signal);
  const queue = new ApprovalQueue();
  const style = styleFor(io.env);
  const { lathe, driver, greeting } = await openConversation({ flags, io, style, approver: queue, signal, model });
  void lathe.discover(signal);
  const sandbox = (await lathe.sandbox.status()).text;
  const editor = editorCommand(io.env, lathe.settings.general.preferredEditor);
  const isSpoken = lathe.settings.ui.accessibility.screenReader;
  const prompt = operands.join(' ');
  const keys = new KeyStream(io.stdin);
  io.terminal.write(enablePaste);
  const app = render(
    <App
      lathe={lathe}
      driver={driver}
      queue={queue}
      io={io}
      style={style}
      sandbox={sandbox}
      markdown={lazyMarkdown(style)}
      isSpoken={isSpoken}
      greeting={greeting}
      {...(prompt !== '' && { initialPrompt: prompt })}
      editText={async (text, name) => {
        keys.release();
        try {
          return await editText(text, name, editor);
        } finally {
          keys.resumeKeys();
        }
      }}
    />,
    {
      exitOnCtrlC: false,
      stdin: asTerminal(keys),
      stdout: endlessTerminal(io.terminal),
      isScreenReaderEnabled: isSpoken,
      maxFps: 60,
    },
  );
  const leave = () => app.unmount();
  signal.addEventListener('abort', leave, { once: true });
  try {
    await app.waitUntilExit();
  } finally {
    signal.removeEventListener('abort', leave);
    io.terminal.write(disablePaste);
    keys.release();
    await lathe.close();
  }
  return exitCodes.success;
}

/** The renderer is loaded behind the first frame; until then Markdown is shown as it is. */
function lazyMarkdown(style: Style): ViewContext['markdown'] {
  let renderText: ViewContext['markdown'] | undefined;
  const load = async () => {
    const { renderMarkdown } = await import('../render/markdown.js');
    renderText = (text, width) => renderMarkdown(text, width, style);
  };
  void load();
  return (text, width) => renderText?.(text, width) ?? text;
}

/** Ink asks for a terminal's stream and uses no more of it than this. */
function asTerminal(keys: KeyStream): NodeJS.ReadStream {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
  return keys as unknown as NodeJS.ReadStream;
}
