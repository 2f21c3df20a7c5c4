import { addressesOf, chatModels } from './choose-local.js';
import { findLocalServers } from './local.js';
import type { ModelSources } from './model-sources.js';
import { firstSet, keyOf } from './open-provider.js';
import { providers } from './providers.js';

/** A model that is ready to use. */
export interface FoundModel {
  /** `provider/name`, as `--model` and `model.name` take it. */
  name: string;
  /** Why it is available, for people. */
  origin: string;
}

/** Finds the models whose keys are set, then a few of each server on this machine. */
export async function findModels(
  sources: Pick<ModelSources, 'env' | 'localAddresses'>,
  signal: AbortSignal,
): Promise<FoundModel[]> {
  const { env } = sources;
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
  return [...hosted, ...local];
}

const maxPerServer = 5;
