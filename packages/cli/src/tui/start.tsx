import { chooseModel, type Lathe, openAgent, visibleText } from '@lathe/core';
import { render } from 'ink';
import type { Flags } from '../args.js';
import { ConsoleDriver } from '../console/console-driver.js';
import { exitCodes } from '../exit-codes.js';
import type { Io } from '../io.js';
import { openLathe } from '../open-lathe.js';
import { type Style, styleFor } from '../render/style.js';
import { askForTrust } from '../trust-question.js';
import { AgentDriver } from './agent-driver.js';
import { App } from './app.js';
import { ApprovalQueue } from './approval-queue.js';
import type { Driver } from './driver.js';
import { editorCommand, editText } from './edit-text.js';
import { disablePaste, enablePaste, KeyStream } from './key-stream.js';
import type { ViewContext } from './views.js';

/** The interactive program: an agent when there is a model, the console when there is none. */
export async function startInteractive(
  operands: readonly string[],
  flags: Flags,
  io: Io,
  signal: AbortSignal,
): Promise<number> {
  await askForTrust(flags, io, signal);
  const queue = new ApprovalQueue();
  const lathe = await openLathe(flags, io, { approver: queue });
  const style = styleFor(io.env);
  const { driver, greeting } = await chooseDriver(lathe, flags, style, signal);
  void lathe.discover(signal);
  const sandbox = (await lathe.sandbox.status()).text;
  const editor = editorCommand(io.env, lathe.settings.general.preferredEditor);
  const prompt = operands.join(' ');
  const keys = new KeyStream(io.stdin);
  process.stdout.write(enablePaste);
  const app = render(
    <App
      lathe={lathe}
      driver={driver}
      queue={queue}
      io={io}
      style={style}
      sandbox={sandbox}
      markdown={lazyMarkdown(style)}
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
    { exitOnCtrlC: false, stdin: asTerminal(keys) },
  );
  const leave = () => app.unmount();
  signal.addEventListener('abort', leave, { once: true });
  try {
    await app.waitUntilExit();
  } finally {
    signal.removeEventListener('abort', leave);
    process.stdout.write(disablePaste);
    keys.release();
    await lathe.close();
  }
  return exitCodes.success;
}

async function chooseDriver(
  lathe: Lathe,
  flags: Flags,
  style: Style,
  signal: AbortSignal,
): Promise<{ driver: Driver; greeting: string }> {
  const { settings, loaded, workspace } = lathe;
  const name = flags.model ?? settings.model.name;
  const choice = await chooseModel(
    { ...(name !== undefined && { name }), settings: settings.model, env: loaded.env },
    signal,
  );
  const place = style.dim(visibleText(workspace.root));
  if (choice.status === 'none') {
    const lines = [
      `${style.bold('lathe')} ${place}`,
      '',
      visibleText(choice.setup.problem),
      ...choice.setup.ways.map(({ title, commands }) => `  ${title}: ${style.accent(commands.join('; '))}`),
      '',
      'Until then this is the console: you call the tools yourself. /tools lists them, /help helps.',
    ];
    return { driver: new ConsoleDriver(lathe), greeting: lines.join('\n') };
  }
  const driver = new AgentDriver(lathe, openAgent(lathe, { model: choice.model }));
  const notes = choice.notes.map((note) => style.dim(visibleText(note)));
  return { driver, greeting: [`${style.bold('lathe')} ${choice.model.id} ${place}`, ...notes].join('\n') };
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
