import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { fromLanguageModel } from '../adapter/from-language-model.js';
import type { LanguageModel } from '../adapter/language-model.js';
import { asObject, asString, fieldsOf, isObject } from '../json.js';
import type { Model } from '../model.js';
import { ModelError } from '../model-error.js';
import { inputsOf, knownModel } from './known-models.js';
import type { ModelSources } from './model-sources.js';
import { checkVariables } from './open-provider.js';

/** Package names and paths inside a package; nothing that leads out of the folder of packages. */
const packageName = /^(@[a-z0-9][\w.-]*\/)?[a-z0-9][\w.-]*(\/[a-z0-9][\w.-]*)*$/i;

/**
 * Opens a model of a package that the person installed below Lathe's own folder. Packages of the project are never
 * looked at: a repository must not choose the code that gets the keys.
 */
export async function openPackageProvider(
  specifier: string,
  name: string | undefined,
  { settings = {}, home, options }: ModelSources,
): Promise<{ model: Model; origin: string }> {
  if (!packageName.test(specifier))
    throw new ModelError('not-found', `model.provider: "${specifier}" is not the name of a package.`);
  if (name === undefined)
    throw new ModelError('not-found', `npm:${specifier} needs a model: set model.name or --model.`);
  if (home === undefined) throw new ModelError('not-found', 'Packages of providers can only be used from the agent.');
  checkVariables(settings);
  const folder = join(home, 'packages');
  const exported = await load(specifier, folder);
  const create = factoryOf(exported, specifier);
  const { apiKey, baseUrl: baseURL, headers } = settings;
  const given = { ...(apiKey && { apiKey }), ...(baseURL && { baseURL }), ...(headers && { headers }) };
  const model = languageModel(create({ name: specifier, ...given }), name, specifier);
  const { supports } = knownModel(name);
  const { contextWindow, maxOutputTokens, inputs } = settings;
  const details = {
    contextWindow,
    maxOutputTokens,
    retry: options?.retry,
    supports: inputs ? { ...supports, ...inputsOf(inputs) } : supports,
  };
  return { model: fromLanguageModel(model, details), origin: `the package ${specifier}` };
}

async function load(specifier: string, folder: string): Promise<Record<string, unknown>> {
  const file = entryOf(specifier, folder);
  if (file === undefined) {
    const install = `npm install --prefix ${folder} ${packageOf(specifier)}`;
    throw new ModelError('not-found', `The package ${specifier} is not installed. Install it with: ${install}`);
  }
  try {
    return { ...(await import(pathToFileURL(file).href)) };
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ModelError('not-found', `The package ${specifier} cannot be loaded: ${reason}`, { cause });
  }
}

function packageOf(specifier: string): string {
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
}

/** The file of an import in this folder and nowhere above it, where Node would also look. */
function entryOf(specifier: string, folder: string): string | undefined {
  const name = packageOf(specifier);
  const place = join(folder, 'node_modules', name);
  let manifest: unknown;
  try {
    manifest = JSON.parse(readFileSync(join(place, 'package.json'), 'utf8'));
  } catch {
    return undefined;
  }
  const { exports, main } = asObject(manifest);
  const subpath = `.${specifier.slice(name.length)}`;
  const table =
    isObject(exports) && Object.keys(exports).some((key) => key.startsWith('.')) ? exports : { '.': exports };
  const target = targetOf(table[subpath]) ?? (subpath === '.' ? asString(main) || 'index.js' : undefined);
  return target === undefined ? undefined : join(place, target);
}

function targetOf(entry: unknown): string | undefined {
  if (typeof entry === 'string') return entry;
  if (!isObject(entry)) return undefined;
  const conditions = ['node', 'import', 'module', 'default', 'require'];
  const [, found] = Object.entries(entry).find(([key, value]) => conditions.includes(key) && targetOf(value)) ?? [];
  return targetOf(found);
}

type Factory = (options: object) => unknown;

/** `createAmazonBedrock` of `@ai-sdk/amazon-bedrock`; the name closest to that of the package if there are several. */
function factoryOf(exported: Record<string, unknown>, specifier: string): Factory {
  const plain = specifier.replaceAll(/[^a-z0-9]/gi, '').toLowerCase();
  const names = Object.keys(exported).filter((key) => /^create[A-Z]/.test(key) && typeof exported[key] === 'function');
  const best = names.find((key) => plain.endsWith(key.slice('create'.length).toLowerCase())) ?? names[0];
  if (best === undefined)
    throw new ModelError('not-found', `The package ${specifier} is not a provider of the AI SDK.`);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- checked to be a function; what it returns is checked next
  return exported[best] as Factory;
}

function languageModel(provider: unknown, name: string, specifier: string): LanguageModel {
  const { languageModel: method } = fieldsOf(provider);
  const open = typeof method === 'function' ? method : provider;
  const model: unknown = typeof open === 'function' ? Reflect.apply(open, provider, [name]) : undefined;
  if (isLanguageModel(model)) return model;
  throw new ModelError('not-found', `The package ${specifier} has no language model ${name}.`);
}

function isLanguageModel(value: unknown): value is LanguageModel {
  const { specificationVersion, doStream } = fieldsOf(value);
  return typeof specificationVersion === 'string' && typeof doStream === 'function';
}
