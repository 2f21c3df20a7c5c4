import { type FoundModel, findModels, providers } from '@lathe/agent/models';
import { type Lathe, saveSetting, userSettings, visibleText } from '@lathe/core';
import type { Flags } from '../command-line/args.js';
import type { Io } from '../command-line/io.js';
import type { Style } from '../render/style.js';
import { KeyStream } from '../screen/key-stream.js';
import { askSecret, type Choice, choose } from './menu.js';

/** What a person wants who has no model yet: the settings hold it now, the console, or nothing. */
export type FirstRun = 'saved' | 'nothing to ask' | 'console' | 'demo' | 'leave';

type Wish = { type: 'use'; name: string } | { type: 'key' } | { type: 'console' } | { type: 'demo' };

/**
 * When nothing says which model to use, and not exactly one could be meant, asks which; the answer is kept in the
 * person's own settings.
 */
export async function firstRun(
  lathe: Lathe,
  flags: Flags,
  { io, style, signal }: { io: Io; style: Style; signal: AbortSignal },
): Promise<FirstRun> {
  if (isConfigured(lathe, flags)) return 'nothing to ask';
  const found = await findModels({ env: lathe.loaded.env }, signal);
  if (found.length === 1) return 'nothing to ask';
  const isSpoken = lathe.settings.ui.accessibility.screenReader;
  const place = () => ({ terminal: io.terminal, keys: new KeyStream(io.stdin), isSpoken, signal, style });
  const title = `${style.bold('lathe')} works with any model. ${found.length === 0 ? 'None is configured, and none runs on this machine.' : 'Which one?'}\n`;
  const wish = await choose<Wish>(title, choicesFor(found), place());
  switch (wish?.type) {
    case undefined:
      return 'leave';
    case 'use':
      await save(lathe, { 'model.name': wish.name });
      io.err(`${wish.name} is your model now: ${lathe.home.file('settings.json')}`);
      return 'saved';
    case 'key':
      return (await askForKey(lathe, io, place)) ? 'saved' : 'leave';
    case 'console':
    case 'demo':
      return wish.type;
  }
}

function isConfigured({ settings, loaded }: Lathe, flags: Flags): boolean {
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

function choicesFor(found: readonly FoundModel[]): Choice<Wish>[] {
  return [
    ...found.map(({ name, origin }) => ({
      label: visibleText(name),
      detail: visibleText(origin),
      value: { type: 'use', name } as const,
    })),
    { label: 'Console', detail: 'call the tools yourself, without a model', value: { type: 'console' } },
    { label: 'Demo', detail: 'watch a scripted model use them, in a scratch project', value: { type: 'demo' } },
    { label: 'Enter a key', detail: `of ${providers.map(({ name }) => name).join(', ')}`, value: { type: 'key' } },
  ];
}

type Places = () => Parameters<typeof askSecret>[1];

async function askForKey(lathe: Lathe, io: Io, place: Places): Promise<boolean> {
  const choices = providers.map((provider) => ({
    label: provider.name,
    detail: provider.defaultModel,
    value: provider,
  }));
  const provider = await choose('Whose key?\n', choices, place());
  if (!provider) return false;
  const path = lathe.home.file('settings.json');
  const key = await askSecret(
    `The key for ${provider.name}. It is kept in ${visibleText(path)}, which only you can read.`,
    place(),
  );
  if (key === undefined) return false;
  const name = `${provider.name}/${provider.defaultModel}`;
  await save(lathe, { 'model.provider': provider.name, 'model.apiKey': key, 'model.name': name });
  io.err(`${name} is your model now: ${path}`);
  return true;
}

/** One setting after the other, each keeping whatever else the file holds. */
async function save({ home }: Lathe, values: Readonly<Record<string, string>>): Promise<void> {
  await home.directory();
  for (const [key, value] of Object.entries(values)) {
    const [first = '', ...rest] = key.split('.');
    await saveSetting(home, userSettings(home), [first, ...rest], () => value);
  }
}
