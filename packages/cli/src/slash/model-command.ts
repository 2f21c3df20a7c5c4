import type { AgentLathe } from '@lathe/agent';
import { findModels, serverModels } from '@lathe/agent/models';
import { visibleText } from '@lathe/core/host';
import type { SlashContext } from './slash-command.js';

/** `/model` lets the person choose a model; `/model NAME` switches to that one. */
export async function switchModel(name: string, { lathe, driver, print, choose, signal }: SlashContext): Promise<void> {
  const { conversation } = driver;
  if (!conversation) return print(`  ${visibleText(driver.name)}`);
  const known = await knownModels(lathe, signal);
  const choices = known.map((model) => ({
    label: visibleText(model.name),
    detail: visibleText(model.origin),
    value: model.name,
  }));
  const title = `The model is ${visibleText(driver.name)}. Which one should answer from now on?`;
  const wanted = name || (await choose({ title, choices, takesText: true }));
  if (wanted === undefined) return undefined;
  const before = driver.name;
  const notes = await conversation.useModel(wanted, signal);
  const now = driver.name;
  const isKnown = now === before || known.some(({ name: each }) => each === now || each.endsWith(`/${now}`));
  const doubt = isKnown ? [] : ['This name is not among those found here. The next message shows whether it works.'];
  return print([`Model: ${driver.name}`, ...notes, ...doubt].map((line) => visibleText(`  ${line}`)).join('\n'));
}

/** The models that can be chosen here, as far as that is known. */
export async function knownModels({ loaded, settings }: Pick<AgentLathe, 'loaded' | 'settings'>, signal: AbortSignal) {
  const sources = { env: loaded.env, settings: settings.model };
  const [found, offered] = await Promise.all([findModels(sources, signal), serverModels(sources, signal)]);
  const { baseUrl } = settings.model;
  const listed = offered.map((name) => ({ name: baseUrl ? name : `openai/${name}`, origin: 'of your server' }));
  const priced = Object.keys(settings.model.prices).map((name) => ({ name, origin: 'in your settings' }));
  const all = [...found, ...listed, ...priced];
  return all.filter(({ name }, index) => all.findIndex((other) => other.name === name) === index);
}
