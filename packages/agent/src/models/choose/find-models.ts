import { addressesOf } from './choose-local.js';
import { findLocalServers } from './local.js';
import type { ModelSources } from './model-sources.js';
import { keyOf } from './open-provider.js';
import { providers } from './providers.js';

/** A model that could be used at once. */
export interface FoundModel {
  /** `provider/name`, as `--model` and `model.name` take it. */
  name: string;
  /** Why it can be used, for people. */
  origin: string;
}

/** The models whose keys are set, then those that run on this machine; of each server a few. */
export async function findModels(
  sources: Pick<ModelSources, 'env' | 'localAddresses'>,
  signal: AbortSignal,
): Promise<FoundModel[]> {
  const { env } = sources;
  const hosted = providers.flatMap((provider) => {
    const key = keyOf(provider, env);
    const model = provider.modelVariables.map((variable) => env[variable]).find(Boolean) ?? provider.defaultModel;
    return key ? [{ name: `${provider.name}/${model}`, origin: `${key.variable} is set` }] : [];
  });
  const servers = await findLocalServers(signal, { addresses: addressesOf(sources) });
  const local = servers.flatMap(({ server, models }) =>
    models
      .filter(({ name }) => !/embed|rerank/i.test(name))
      .slice(0, maxPerServer)
      .map(({ name }) => ({ name: `${server}/${name}`, origin: `${server} on this machine` })),
  );
  return [...hosted, ...local];
}

const maxPerServer = 5;
