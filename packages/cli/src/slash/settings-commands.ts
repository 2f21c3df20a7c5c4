import { saveSetting, showSetting, userSettings, visibleText } from '@lathe/core/host';
import { themeNamed } from '../render/theme.js';
import type { SlashContext } from './slash-command.js';

const themeChoices = [
  { label: 'auto', detail: 'ask the terminal for its background, at the next start', value: 'auto' },
  { label: 'dark', detail: 'for a dark background', value: 'dark' },
  { label: 'light', detail: 'for a light background', value: 'light' },
];

export const themeNames: readonly string[] = themeChoices.map(({ value }) => value);

/** `/theme` changes the colours at once and keeps the choice in the person's settings. */
export async function switchTheme(name: string, { lathe, style, print, choose }: SlashContext): Promise<void> {
  const initial = themeNames.indexOf(lathe.settings.ui.theme);
  const title = 'Which colours?';
  const wanted = name || (await choose({ title, choices: themeChoices, ...(initial > 0 && { initial }) }));
  if (wanted === undefined) return undefined;
  if (!themeNames.includes(wanted)) return print(`  Unknown theme. Use one of: ${themeNames.join(', ')}`);
  style.theme = themeNamed(wanted) ?? style.theme;
  await save(lathe, 'ui.theme', wanted);
  return print(`  Theme: ${wanted}, saved in ${visibleText(lathe.home.file('settings.json'))}`);
}

/** `/config` lists the settings that are not defaults; `/config KEY VALUE` changes one in the person's settings. */
export async function configure(argument: string, { lathe, print }: SlashContext): Promise<void> {
  const [, key = '', text = ''] = /^(\S+)(?:\s+([\s\S]+))?$/.exec(argument) ?? [];
  if (key === '') return print(settingLines(lathe.loaded.origins, lathe.home.file('settings.json')));
  if (text === '') return print(settingLines(lathe.loaded.origins, lathe.home.file('settings.json'), key));
  await save(lathe, key, parse(text));
  return print(
    `  Saved ${visibleText(key)} in ${visibleText(lathe.home.file('settings.json'))}. It counts from the next start on.`,
  );
}

function settingLines(origins: SlashContext['lathe']['loaded']['origins'], file: string, only?: string): string {
  const lines = [...origins]
    .filter(([key]) => only === undefined || key === only || key.startsWith(`${only}.`))
    .flatMap(([key, list]) =>
      list.map(({ source, written }) => `${key} = ${JSON.stringify(showSetting(key, written))}   (${source})`),
    );
  const advice = [`/config KEY VALUE changes ${file}. docs/settings.md lists all keys.`];
  const none = [only === undefined ? 'Every setting has its default.' : `${only} has its default.`];
  return [...(lines.length > 0 ? lines : none), ...advice].map((line) => visibleText(`  ${line}`)).join('\n');
}

type Json = Parameters<typeof showSetting>[1];

/** JSON, or else the text itself. */
function parse(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

async function save({ home }: SlashContext['lathe'], key: string, value: Json): Promise<void> {
  const [first = '', ...rest] = key.split('.');
  await home.directory();
  await saveSetting(home, userSettings(home), [first, ...rest], () => value);
}
