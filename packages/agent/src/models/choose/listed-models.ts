import type { Settings } from '@lathe/core';
import { ModelError } from '../model-error.js';
import type { Environment, ModelSources } from './model-sources.js';
import { keyOf } from './open-provider.js';
import { type Provider, providerNamed } from './providers.js';

/** A model that `model.providers` describes. */
export interface ListedModel {
  id: string;
  /** The name for people. */
  title: string | undefined;
  baseUrl: string | undefined;
  /** The provider whose format it uses, with the variables that count for this model. */
  provider: Provider;
}

/** The models of `model.providers`. Of two with the same id the later one counts. */
export function listedModels({ settings }: Pick<ModelSources, 'settings'>): ListedModel[] {
  const listed = Object.entries(settings?.providers ?? {}).flatMap(([name, entries]) => {
    const provider = providerNamed(name);
    return provider ? entries.map((entry) => listedModel(provider, entry)) : [];
  });
  return [...new Map(listed.map((model) => [model.id, model])).values()];
}

/** The listed model of this name; without a name, the first that is ready, unless something else is configured. */
export function findListed(name: string | undefined, sources: ModelSources): ListedModel | undefined {
  const listed = listedModels(sources);
  if (name === undefined) return hasOther(sources) ? undefined : listed.find((model) => isReady(model, sources));
  const found = listed.find(({ id }) => id === name);
  if (found && !isReady(found, sources))
    throw new ModelError('auth', `${found.id} needs a key: set ${found.provider.keyVariables[0]}.`);
  return found;
}

/** Whether its key is set, or it needs none. */
export function isReady(model: ListedModel, sources: KeySources): boolean {
  const { provider } = model;
  return provider.keyVariables[0] === noVariable || keyOf(provider, environmentOf(model, sources)) !== undefined;
}

/** The sources for a listed model: key, headers and wire of `model` belong to another server. */
export function sourcesOf(model: ListedModel, sources: ModelSources): ModelSources {
  const { settings = {} } = sources;
  const { contextWindow, maxOutputTokens, inputs } = settings.name === model.id ? settings : {};
  return {
    ...sources,
    env: environmentOf(model, sources),
    settings: { baseUrl: model.baseUrl, contextWindow, maxOutputTokens, inputs },
  };
}

type KeySources = Pick<ModelSources, 'env' | 'settings'>;

/** The environment, with the keys of this model that only the settings have. */
function environmentOf({ provider }: ListedModel, { env, settings }: KeySources): Environment {
  return {
    ...env,
    ...Object.fromEntries(provider.keyVariables.map((name) => [name, env[name] || settings?.keys?.[name]])),
  };
}

/** Stands where messages name the variable of a key. */
const noVariable = 'envKey in model.providers';

type Entry = Settings['model']['providers'][string][number];

/** The key of the provider's own variable never goes to another address, and an own key never to that of a variable. */
function listedModel(known: Provider, { id, name: title, baseUrl, envKey }: Entry): ListedModel {
  const isElsewhere = baseUrl !== undefined && hostOf(baseUrl) !== hostOf(known.baseUrl);
  const provider = {
    ...known,
    ...(isElsewhere && { name: 'custom', keyVariables: [noVariable] as const }),
    ...(envKey !== undefined && { keyVariables: [envKey] as const, baseUrlVariables: [] }),
  };
  return { id, title, baseUrl, provider };
}

const hostOf = (url: string) => (URL.canParse(url) ? new URL(url).host : undefined);

const hasOther = ({ env, settings = {} }: ModelSources) =>
  Boolean(settings.provider || settings.baseUrl || settings.apiKey || env['OPENAI_BASE_URL']);
