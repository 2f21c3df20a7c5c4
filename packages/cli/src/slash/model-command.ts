import type { AgentLathe } from '@lathe/agent';
import { findModels } from '@lathe/agent/models';
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
  const found = await findModels({ env: loaded.env, settings: settings.model }, signal);
  const priced = Object.keys(settings.model.prices).map((each) => ({ name: each, origin: 'in your settings' }));
  return [...found, ...priced.filter((each) => !found.some((other) => other.name === each.name))];
}
