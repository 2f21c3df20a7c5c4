import { proxyFor } from '../http/proxy-settings.js';
import { RemoteModel } from '../http/remote-model.js';
import type { Model } from '../model.js';
import { ModelError } from '../model-error.js';
import type { WireName } from '../wire/wire-format.js';
import { inputsOf, knownModel } from './known-models.js';
import type { Environment, ModelSources } from './model-sources.js';
import { loadWireFormat, type Provider, providers, wireOf } from './providers.js';

interface Key {
  value: string;
  variable: string;
}

export function keyOf({ keyVariables }: Provider, env: Environment): Key | undefined {
  for (const variable of keyVariables) {
    const value = env[variable]?.trim();
    if (value) return { value, variable };
  }
  return undefined;
}

export const firstSet = (variables: readonly string[], env: Environment) =>
  variables.map((name) => env[name]).find(Boolean);

/** Opens a model of a hosted or self-hosted provider, with its key and the address that the person chose. */
export async function openProvider(
  provider: Provider,
  name: string | undefined,
  sources: ModelSources,
): Promise<{ model: Model; origin: string }> {
  const { env, settings = {}, options } = sources;
  checkVariables(settings);
  const key = findKey(provider, sources);
  const chosenUrl = settings.baseUrl ?? firstSet(provider.baseUrlVariables, env);
  const baseUrl = checkUrl(chosenUrl ?? provider.baseUrl);
  if (!key && chosenUrl === undefined) {
    const { name: who, keyVariables } = provider;
    const ways = `set ${keyVariables[0]}, or model.apiKey with model.provider "${who}"`;
    throw new ModelError('auth', `${who} needs a key: ${ways}.`);
  }
  const id = name ?? firstSet(provider.modelVariables, env) ?? provider.defaultModel;
  const hosted = providers.find((each) => new URL(each.baseUrl).host === baseUrl.host);
  const wire = wireOf(provider, baseUrl.host, settings.wire);
  const model = new RemoteModel(await loadWireFormat(wire), {
    ...options,
    ...limitsOf(id, settings),
    // Many people reach a known provider through OPENAI_BASE_URL.
    provider: hosted?.name ?? provider.name,
    baseUrl: versioned(baseUrl, wire),
    apiKey: key?.value,
    keyVariable: key?.variable ?? provider.keyVariables[0],
    headers: settings.headers,
    model: id,
    isRaw: wire === 'chat' && !hosted,
    proxy: proxyFor(baseUrl, env),
  });
  return { model, origin: originOf(provider, baseUrl) };
}

function findKey(provider: Provider, { env, settings }: ModelSources): Key | undefined {
  const key = settings?.apiKey ? { value: settings.apiKey, variable: 'model.apiKey' } : keyOf(provider, env);
  if (key && /[^\x21-\x7e]/.test(key.value))
    throw new ModelError('auth', `${key.variable} contains characters that no key has: was it copied correctly?`);
  return key;
}

/** A variable that is not set stays in the settings as it is written. It must not be sent in the place of a key. */
export function checkVariables({ apiKey = '', headers = {} }: NonNullable<ModelSources['settings']>): void {
  const written = { 'model.apiKey': apiKey, ...headers };
  for (const [name, value] of Object.entries(written)) {
    const [, variable] = /^(?:Bearer )?\$\{?([A-Za-z_]\w*)\}?$/.exec(value) ?? [];
    const place = name === 'model.apiKey' ? name : `model.headers "${name}"`;
    if (variable) throw new ModelError('auth', `${place} needs the variable ${variable}, which is not set.`);
  }
}

function limitsOf(id: string, { contextWindow, maxOutputTokens, inputs }: NonNullable<ModelSources['settings']>) {
  const known = knownModel(id);
  return {
    supports: inputs ? { ...known.supports, ...inputsOf(inputs) } : known.supports,
    contextWindow: contextWindow ?? known.contextWindow,
    maxOutputTokens: maxOutputTokens ?? known.maxOutputTokens,
  };
}

function checkUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:')
    throw new ModelError('not-found', 'The base URL of the model is not an http or https address.');
  return url;
}

/** Anthropic's own programs take the address without the version. */
function versioned(url: URL, wire: WireName): string {
  return wire === 'messages' && url.pathname === '/' ? new URL('/v1', url).href : url.href;
}

function originOf({ name }: Provider, { host }: URL): string {
  return name === 'custom' ? host : `${name} at ${host}`;
}
