import type { Model } from '../model.js';
import { ModelError } from '../model-error.js';
import { chooseLocal } from './choose-local.js';
import { findListed, sourcesOf } from './listed-models.js';
import { isLocalServerName } from './local.js';
import type { ModelChoice, ModelSources } from './model-sources.js';
import { keyOf, openProvider } from './open-provider.js';
import { customProvider, type Provider, providerNamed, providers } from './providers.js';

/** `model.provider` of a package of the AI SDK: `npm:@ai-sdk/amazon-bedrock`. */
const packagePrefix = 'npm:';

/**
 * Chooses a model: the one asked for, or else that of the settings, or else one whose key is set, or else one on this
 * machine. Throws a `ModelError` when the model asked for is not available.
 */
export async function chooseModel(sources: ModelSources, signal: AbortSignal): Promise<ModelChoice> {
  const choice = await chooseFirst(sources, signal);
  const names = sources.settings?.fallbacks ?? [];
  if (choice.status === 'none' || names.length === 0) return choice;
  const { FallbackModel } = await import('./fallback-model.js');
  const fallbacks = names.map((name) => ({ name, open: (stop: AbortSignal) => openFallback(name, sources, stop) }));
  return { ...choice, model: new FallbackModel(choice.model, fallbacks) };
}

async function openFallback(name: string, sources: ModelSources, signal: AbortSignal): Promise<Model> {
  const settings = { ...sources.settings, name: sources.settings?.name ?? sources.name };
  const choice = await chooseFirst({ ...sources, settings, name }, signal);
  if (choice.status === 'none') throw new ModelError('not-found', choice.setup.problem);
  return choice.model;
}

async function chooseFirst(sources: ModelSources, signal: AbortSignal): Promise<ModelChoice> {
  const name = sources.name ?? sources.settings?.name;
  const listed = findListed(name, sources);
  if (!listed) return chooseUnlisted(name, sources, signal);
  const found = await openProvider(listed.provider, listed.id, sourcesOf(listed, sources));
  return { status: 'chosen', ...found, notes: [] };
}

async function chooseUnlisted(
  name: string | undefined,
  sources: ModelSources,
  signal: AbortSignal,
): Promise<ModelChoice> {
  const wanted = splitName(name, sources);
  const own = ownSettings(sources, wanted);
  const providerName = wanted.provider ?? own.settings?.provider;
  if (own.settings?.provider === providerName && providerName?.startsWith(packagePrefix)) {
    const { openPackageProvider } = await import('./package-provider.js');
    const found = await openPackageProvider(providerName.slice(packagePrefix.length), wanted.name, own);
    return { status: 'chosen', ...found, notes: [] };
  }
  if (providerName && (providerName === 'local' || isLocalServerName(providerName)))
    return chooseLocal(own, signal, wanted.name, providerName);
  const provider = chooseProvider(providerName, wanted.name, own);
  if (provider) return { status: 'chosen', ...(await openProvider(provider, wanted.name, own)), notes: [] };
  if (hasBaseUrl(own))
    throw new ModelError('not-found', 'A base URL is set, but no model: use --model NAME, model.name or OPENAI_MODEL.');
  return chooseLocal(own, signal, wanted.name, 'local');
}

interface WantedModel {
  provider?: string;
  name?: string;
}

/** Splits `provider/name`, unless the only server we have may use the whole as a name: many names contain a slash. */
function splitName(text: string | undefined, sources: ModelSources): WantedModel {
  if (!text) return {};
  const slash = text.indexOf('/');
  const head = text.slice(0, Math.max(0, slash)).toLowerCase();
  const name = text.slice(slash + 1);
  const split = name === '' ? { provider: head } : { provider: head, name };
  if (head === 'local' || isLocalServerName(head)) return split;
  const provider = providerNamed(head);
  if (!provider) return { name: text };
  const isUsable = keyOf(provider, sources.env) !== undefined || sources.settings?.provider === head;
  const isPackage = sources.settings?.provider?.startsWith(packagePrefix);
  const hasOther = hasBaseUrl(sources) || isPackage || Boolean(sources.env['OPENROUTER_API_KEY']);
  return isUsable || !hasOther ? split : { name: text };
}

const hasBaseUrl = ({ env, settings }: ModelSources) => Boolean(settings?.baseUrl || env['OPENAI_BASE_URL']);

/** Key, headers and address of the settings belong to one provider. They are never used with another. */
function ownSettings(sources: ModelSources, { provider, name }: WantedModel): ModelSources {
  const isOwn = provider === undefined ? isOwnName(name, sources) : provider === sources.settings?.provider;
  return isOwn ? sources : { ...sources, settings: {} };
}

/** A key without a provider belongs to that of the model in the settings, not to that of any other name. */
function isOwnName(name: string | undefined, sources: ModelSources): boolean {
  const { apiKey, headers = {}, provider, name: main } = sources.settings ?? {};
  const isPlain = provider === undefined && !hasBaseUrl(sources);
  if (!isPlain || (!apiKey && Object.keys(headers).length === 0) || !name || !main) return true;
  const ownerOf = (text: string) =>
    splitName(text, sources).provider ?? (providers.find(({ models }) => models.test(text)) ?? providers[0])?.name;
  return ownerOf(name) === ownerOf(main);
}

function chooseProvider(
  providerName: string | undefined,
  name: string | undefined,
  sources: ModelSources,
): Provider | undefined {
  const { env, settings = {} } = sources;
  if (providerName) return providerNamed(providerName) ?? unknownProvider(providerName, sources);
  if (settings.baseUrl) return name || env['OPENAI_MODEL'] ? customProvider('custom') : undefined;
  const usable = settings.apiKey ? providers : providers.filter((provider) => keyOf(provider, env) !== undefined);
  if (env['OPENAI_BASE_URL'])
    return name || env['OPENAI_MODEL'] || usable[0]?.name === 'openai' ? providers[0] : undefined;
  return usable.find(({ models }) => name !== undefined && models.test(name)) ?? usable[0];
}

function unknownProvider(name: string, { settings }: ModelSources): Provider {
  if (settings?.baseUrl) return customProvider(name);
  const known = [...providers.map((each) => each.name), 'local'].join(', ');
  throw new ModelError('not-found', `No provider is called ${name}. Known: ${known}; others need model.baseUrl.`);
}
