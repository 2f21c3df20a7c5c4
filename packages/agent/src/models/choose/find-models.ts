import type { Model } from '../model.js';
import { ModelError } from '../model-error.js';
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

/** Sends a minimal request and waits for the first sign of an answer. Throws a `ModelError` if the model does not answer. */
export async function checkModel(model: Model, signal: AbortSignal, { timeoutMs = 15_000 } = {}): Promise<void> {
  const timeout = AbortSignal.timeout(timeoutMs);
  const request = {
    system: '',
    history: [{ role: 'user' as const, parts: [{ text: 'Reply with: ok' }] }],
    tools: [],
    maxOutputTokens: 16,
  };
  try {
    for await (const event of model.stream(request, AbortSignal.any([signal, timeout]))) {
      // Without a delay only an option was rejected.
      if (event.type === 'retry' && event.delayMs === 0) continue;
      if (event.type === 'retry' || event.type === 'fallback') throw new ModelError('overloaded', event.reason);
      return;
    }
  } catch (error) {
    if (!timeout.aborted || signal.aborted) throw error;
    throw new ModelError('timeout', `${model.id} did not answer within ${timeoutMs / 1_000} seconds.`);
  }
}
