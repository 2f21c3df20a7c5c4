import { type AgentLathe } from '@lathe/agent';
import { type FoundModel, findModels, providers } from '@lathe/agent/models';
import { saveSetting, userSettings, visibleText } from '@lathe/core/host';
import type { Flags } from '../command-line/args.js';
import type { Io } from '../command-line/io.js';
import type { Style } from '../render/style.js';
import type { Choice } from '../screen/choice-list.js';
import { KeyStream } from '../screen/key-stream.js';
import { askSecret, choose } from './menu.js';

/** What a person without a model chose. `configured`: there was nothing to ask. */
export type FirstRun = 'saved' | 'configured' | 'console' | 'demo' | 'quit';

type Answer = { type: 'use'; name: string } | { type: 'key' } | { type: 'console' } | { type: 'demo' };

/** Asks which model to use if none is configured and not exactly one was found. Saves the answer in the user settings. */
export async function firstRun(
  lathe: Pick<AgentLathe, 'settings' | 'loaded' | 'home'>,
  flags: Flags,
  { io, style, signal }: { io: Io; style: Style; signal: AbortSignal },
): Promise<FirstRun> {
  if (isConfigured(lathe, flags)) return 'configured';
  const found = await findModels({ env: lathe.loaded.env }, signal);
  if (found.length === 1) return 'configured';
  const isScreenReader = lathe.settings.ui.accessibility.screenReader;
  const screen = () => ({ terminal: io.terminal, keys: new KeyStream(io.stdin), isScreenReader, signal, style });
  const title = `${style.bold('lathe')} works with any model. ${found.length === 0 ? 'None is configured, and none is running on this machine.' : 'Which one do you want to use?'}\n`;
  const answer = await choose<Answer>(title, choicesFor(found), screen());
  switch (answer?.type) {
    case undefined:
      return 'quit';
    case 'use':
      await save(lathe.home, { 'model.name': answer.name });
      io.err(`Saved ${answer.name} as your model in ${lathe.home.file('settings.json')}`);
      return 'saved';
    case 'key':
      return (await askForKey(lathe, io, screen)) ? 'saved' : 'quit';
    case 'console':
    case 'demo':
      return answer.type;
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
    { label: 'Console', detail: 'call the tools yourself, without a model', value: { type: 'console' } },
    { label: 'Demo', detail: 'watch a scripted model use the tools on a scratch project', value: { type: 'demo' } },
    { label: 'Enter a key', detail: `for ${providers.map(({ name }) => name).join(', ')}`, value: { type: 'key' } },
  ];
}

type OpenScreen = () => Parameters<typeof askSecret>[1];

async function askForKey({ home }: Pick<AgentLathe, 'home'>, io: Io, screen: OpenScreen): Promise<boolean> {
  const choices = providers.map((provider) => ({
    label: provider.name,
    detail: provider.defaultModel,
    value: provider,
  }));
  const provider = await choose('Which provider?\n', choices, screen());
  if (!provider) return false;
  const path = home.file('settings.json');
  const key = await askSecret(
    `Enter the key for ${provider.name}. AgentLathe saves it in ${visibleText(path)}, which only you can read.`,
    screen(),
  );
  if (key === undefined) return false;
  const name = `${provider.name}/${provider.defaultModel}`;
  await save(home, { 'model.provider': provider.name, 'model.apiKey': key, 'model.name': name });
  io.err(`Saved ${name} as your model in ${path}`);
  return true;
}

/** Saves the settings one by one and keeps everything else in the file. */
async function save(home: AgentLathe['home'], values: Readonly<Record<string, string>>): Promise<void> {
  await home.directory();
  for (const [key, value] of Object.entries(values)) {
    const [first = '', ...rest] = key.split('.');
    await saveSetting(home, userSettings(home), [first, ...rest], () => value);
  }
}
