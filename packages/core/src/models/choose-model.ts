import { chooseLocal } from './choose-local.js';
import { isLocalServerName } from './local.js';
import { ModelError } from './model-error.js';
import type { ModelChoice, ModelSources } from './model-sources.js';
import { keyOf, openProvider } from './open-provider.js';
import { customProvider, type Provider, providerNamed, providers } from './providers.js';

/**
 * The model to use: what was asked for, else what the settings say, else whose key is set, else one that runs on this
 * machine. Throws a `ModelError` when what was asked for cannot be had.
 */
export async function chooseModel(sources: ModelSources, signal: AbortSignal): Promise<ModelChoice> {
  const { env, settings = {} } = sources;
  const wanted = splitName(sources.name ?? settings.name);
  const providerName = wanted.provider ?? settings.provider;
  if (providerName && (providerName === 'local' || isLocalServerName(providerName)))
    return chooseLocal(sources, signal, wanted.name, providerName);
  const provider = chooseProvider(providerName, wanted.name, sources);
  if (provider) return { status: 'chosen', ...(await openProvider(provider, wanted.name, sources)), notes: [] };
  if (settings.baseUrl || env['OPENAI_BASE_URL'])
    throw new ModelError('not-found', 'A base URL is set, but no model: use --model NAME, model.name or OPENAI_MODEL.');
  return chooseLocal(sources, signal, wanted.name, 'local');
}

function splitName(text: string | undefined): { provider?: string; name?: string } {
  if (!text) return {};
  const slash = text.indexOf('/');
  const head = text.slice(0, Math.max(0, slash)).toLowerCase();
  const isProvider = head === 'local' || isLocalServerName(head) || providerNamed(head) !== undefined;
  if (!isProvider) return { name: text };
  const name = text.slice(slash + 1);
  return name === '' ? { provider: head } : { provider: head, name };
}

function chooseProvider(
  providerName: string | undefined,
  name: string | undefined,
  sources: ModelSources,
): Provider | undefined {
  const { env, settings = {} } = sources;
  if (providerName) {
    const provider = providerNamed(providerName);
    if (provider) return provider;
    if (settings.baseUrl) return customProvider(providerName);
    const known = [...providers.map((each) => each.name), 'local'].join(', ');
    throw new ModelError(
      'not-found',
      `No provider is called ${providerName}. Known: ${known}; others need model.baseUrl.`,
    );
  }
  if (settings.baseUrl) return name || env['OPENAI_MODEL'] ? customProvider('custom') : undefined;
  const usable = providers.filter((provider) => keyOf(provider, env) !== undefined);
  if (env['OPENAI_BASE_URL'])
    return name || env['OPENAI_MODEL'] || usable[0]?.name === 'openai' ? providers[0] : undefined;
  return usable.find(({ models }) => name !== undefined && models.test(name)) ?? usable[0];
}
