import { addressesOf, chatModels } from './choose-local.js';
import { isReady, listedModels } from './listed-models.js';
import { findLocalServers } from './local.js';
import type { ModelSources } from './model-sources.js';
import { firstSet, keyOf } from './open-provider.js';
import { providers } from './providers.js';

/** A model that is ready to use. */
export interface FoundModel {
  /** `provider/name`, or the id of a listed model, as `--model` and `model.name` take it. */
  name: string;
  /** Why it is available, for people. */
  origin: string;
}

/** Finds the models of `model.providers` and the providers whose keys are set, then a few of each server on this machine. */
export async function findModels(
  sources: Pick<ModelSources, 'env' | 'settings' | 'localAddresses'>,
  signal: AbortSignal,
): Promise<FoundModel[]> {
  const { env } = sources;
  const listed = listedModels(sources)
    .filter((model) => isReady(model, sources))
    .map(({ id, title }) => ({ name: id, origin: title ? `${title}, in your settings` : 'in your settings' }));
  const hosted = providers.flatMap((provider) => {
    const key = keyOf(provider, env);
    const model = firstSet(provider.modelVariables, env) ?? provider.defaultModel;
    return key ? [{ name: `${provider.name}/${model}`, origin: `${key.variable} is set` }] : [];
  });
  const servers = await findLocalServers(signal, { addresses: addressesOf(sources) });
  const local = servers.flatMap(({ server, models }) =>
    chatModels(models)
      .slice(0, maxPerServer)
      .map(({ name }) => ({ name: `${server}/${name}`, origin: `${server} on this machine` })),
  );
  return [...listed, ...hosted, ...local];
}

const maxPerServer = 5;
