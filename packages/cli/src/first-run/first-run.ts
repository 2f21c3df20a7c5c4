import { type AgentLathe } from '@lathe/agent';
import {
  checkModel,
  chooseModel,
  type FoundModel,
  findModels,
  ModelError,
  type ModelErrorKind,
  providers,
  serverModels,
} from '@lathe/agent/models';
import { saveSetting, userSettings, visibleText } from '@lathe/core/host';
import { describeMode, shownMode } from '../command-line/approval-modes.js';
import type { Flags } from '../command-line/args.js';
import type { Io } from '../command-line/io.js';
import type { Style } from '../render/style.js';
import type { Choice } from '../screen/choice-list.js';
import { KeyStream } from '../screen/key-stream.js';
import { askLine, choose } from './menu.js';

/** What a person without a model chose. `configured`: there was nothing to ask. */
export type FirstRun = 'saved' | 'configured' | 'console' | 'demo' | 'quit';

type Answer =
  | { type: 'use'; name: string }
  | { type: 'key' }
  | { type: 'server' }
  | { type: 'console' }
  | { type: 'demo' };

/** Asks which model to use if none is configured and not exactly one was found. Saves the answer in the user settings. */
export async function firstRun(
  lathe: Pick<AgentLathe, 'settings' | 'loaded' | 'home' | 'sandbox'>,
  flags: Flags,
  options: FirstRunOptions,
): Promise<FirstRun> {
  const answer = await askForModel(lathe, flags, options);
  if (answer === 'saved') await askForMode(lathe, options);
  return answer;
}

interface FirstRunOptions {
  io: Io;
  style: Style;
  signal: AbortSignal;
}

/** Offers auto mode where commands have a sandbox, unless a mode is set. */
async function askForMode(
  { settings, loaded, home, sandbox }: Pick<AgentLathe, 'settings' | 'loaded' | 'home' | 'sandbox'>,
  { io, style, signal }: FirstRunOptions,
): Promise<void> {
  if (loaded.origins.has('tools.approvalMode') || (await sandbox.status()).kind === 'none') return;
  const choices = (['default', 'auto-edit'] as const).map((value) => ({
    label: shownMode(value),
    detail: describeMode(value, { hasSandbox: true }),
    value,
  }));
  const isScreenReader = settings.ui.accessibility.screenReader;
  const screen = { terminal: io.terminal, keys: new KeyStream(io.stdin), isScreenReader, signal, style };
  const mode = await choose(
    'How much may run without a question? Shift+Tab changes it at any time.\n',
    choices,
    screen,
    { escape: 'Esc to decide later' },
  );
  if (mode !== undefined) await save(home, { 'tools.approvalMode': mode });
}

async function askForModel(
  lathe: Pick<AgentLathe, 'settings' | 'loaded' | 'home'>,
  flags: Flags,
  { io, style, signal }: FirstRunOptions,
): Promise<FirstRun> {
  if (isConfigured(lathe, flags)) return 'configured';
  const found = await findModels({ env: lathe.loaded.env, settings: lathe.settings.model }, signal);
  if (found.length === 1) return 'configured';
  const isScreenReader = lathe.settings.ui.accessibility.screenReader;
  const screen = () => ({ terminal: io.terminal, keys: new KeyStream(io.stdin), isScreenReader, signal, style });
  const title = `${style.bold('lathe')} works with any model. ${found.length === 0 ? 'None is configured, and none is running on this machine.' : 'Which one do you want to use?'}\n`;
  for (;;) {
    const answer = await choose<Answer>(title, choicesFor(found), screen(), { escape: 'Esc to quit' });
    switch (answer?.type) {
      case undefined:
        return 'quit';
      case 'use':
        await save(lathe.home, { 'model.name': answer.name });
        io.err(`Saved ${answer.name} as your model in ${lathe.home.file('settings.json')}`);
        return 'saved';
      case 'key':
        if (await askForKey(lathe, { io, signal, screen })) return 'saved';
        break;
      case 'server':
        if (await askForServer(lathe, { io, signal, screen })) return 'saved';
        break;
      case 'console':
      case 'demo':
        return answer.type;
    }
    // The program ends by a signal, not by a key.
    if (signal.aborted) return 'quit';
  }
}

function isConfigured({ settings, loaded }: Pick<AgentLathe, 'settings' | 'loaded'>, flags: Flags): boolean {
  const { name, provider, baseUrl, apiKey } = settings.model;
  const { env } = loaded;
  const hints = [
    flags.model,
    flags.replay,
    name,
    provider,
    baseUrl,
    apiKey,
    env['OPENAI_BASE_URL'],
    env['OPENAI_MODEL'],
  ];
  return flags.continue || flags.resume !== undefined || hints.some(Boolean);
}

function choicesFor(found: readonly FoundModel[]): Choice<Answer>[] {
  return [
    ...found.map(({ name, origin }) => ({
      label: visibleText(name),
      detail: visibleText(origin),
      value: { type: 'use', name } as const,
    })),
    { label: 'Enter a key', detail: `for ${providers.map(({ name }) => name).join(', ')}`, value: { type: 'key' } },
    { label: 'Other server', detail: 'any OpenAI-compatible server, by its address', value: { type: 'server' } },
    { label: 'Demo', detail: 'watch a scripted model use the tools on a scratch project', value: { type: 'demo' } },
    { label: 'Console', detail: 'call the tools yourself, without a model', value: { type: 'console' } },
  ];
}

type Saved = Pick<AgentLathe, 'home' | 'loaded'>;

interface Dialog {
  io: Io;
  signal: AbortSignal;
  /** Each question has a screen of its own. */
  screen: () => Parameters<typeof choose>[2];
}

/** False if the person wants to choose again. */
async function askForKey(lathe: Saved, dialog: Dialog): Promise<boolean> {
  const choices = providers.map((provider) => ({
    label: provider.name,
    detail: provider.defaultModel,
    value: provider,
  }));
  const path = visibleText(lathe.home.file('settings.json'));
  for (;;) {
    const provider = await choose('Which provider?\n', choices, dialog.screen());
    if (!provider) return false;
    const title = `Enter the key for ${provider.name}. Lathe saves it in ${path}, which only you can read.`;
    const name = `${provider.name}/${provider.defaultModel}`;
    const enter = () => askLine(title, { ...dialog.screen(), isSecret: true });
    for (let apiKey = await enter(); apiKey !== undefined; apiKey = await enter())
      if ((await saveChecked(lathe, { provider: provider.name, apiKey, name }, dialog)) === undefined) return true;
  }
}

/** False if the person wants to choose again. */
async function askForServer(lathe: Saved, dialog: Dialog): Promise<boolean> {
  for (;;) {
    const baseUrl = await askLine('Address of the server, such as http://localhost:8000/v1', dialog.screen());
    if (baseUrl === undefined) return false;
    if (await askAboutServer(baseUrl, lathe, dialog)) return true;
  }
}

/** Asks for the key and the model of a server. False if its address must be entered again. */
async function askAboutServer(baseUrl: string, lathe: Saved, dialog: Dialog): Promise<boolean> {
  for (;;) {
    const secret = { ...dialog.screen(), isSecret: true, isOptional: true };
    const apiKey = await askLine('Key for the server, or only Enter if it needs none', secret);
    if (apiKey === undefined) return false;
    const server = { baseUrl, ...(apiKey !== '' && { apiKey }) };
    const name = await askForName(server, lathe, dialog);
    if (name === undefined) continue;
    const problem = await saveChecked(lathe, { ...server, name }, dialog);
    if (problem !== 'auth') return problem === undefined;
  }
}

/** Lets the person choose from the server's own list, where it has one. */
async function askForName(
  server: { baseUrl: string; apiKey?: string },
  { loaded }: Saved,
  { screen, signal }: Dialog,
): Promise<string | undefined> {
  const names = await serverModels({ settings: server, env: loaded.env }, signal);
  if (names.length === 0) return askLine('Name of the model, as the server knows it', screen());
  const choices = names.map((name) => ({ label: visibleText(name), value: name }));
  return choose('Which model?\n', choices, screen(), { other: (text) => text });
}

/** What the person entered, by the names of the settings. */
type ModelAnswers = { name: string } & Partial<Record<'provider' | 'baseUrl' | 'apiKey', string>>;

/** What is wrong with the key or the address itself: asking for it again helps. */
const wrongInput: ReadonlySet<ModelErrorKind> = new Set(['auth', 'not-found', 'bad-response']);

/**
 * Tries the model first. A key that the provider rejects is not saved, and what is wrong is returned; if nobody can tell,
 * it is saved with a note.
 */
async function saveChecked(
  { home, loaded }: Saved,
  model: ModelAnswers,
  { io, signal }: Dialog,
): Promise<ModelErrorKind | undefined> {
  io.err(`Checking ${visibleText(model.name)} …`);
  try {
    const choice = await chooseModel({ settings: model, env: loaded.env }, signal);
    if (choice.status === 'chosen') await checkModel(choice.model, signal);
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    io.err(visibleText(error.message));
    if (wrongInput.has(error.kind)) return error.kind;
    io.err('Saved without a check; lathe doctor checks it again.');
  }
  await save(home, Object.fromEntries(Object.entries(model).map(([key, value]) => [`model.${key}`, value])));
  io.err(`Saved ${visibleText(model.name)} as your model in ${visibleText(home.file('settings.json'))}`);
  return undefined;
}

/** Saves the settings one by one and keeps everything else in the file. */
async function save(home: AgentLathe['home'], values: Readonly<Record<string, string>>): Promise<void> {
  await home.directory();
  for (const [key, value] of Object.entries(values)) {
    const [first = '', ...rest] = key.split('.');
    await saveSetting(home, userSettings(home), [first, ...rest], () => value);
  }
}
