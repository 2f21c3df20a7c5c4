import type { Effort } from '../model.js';
import { closestLevel, effortOptions, effortRow, thinkingTokens } from '../wire/effort.js';
import type { WireName } from '../wire/wire-format.js';
import type { LanguageModel, SpecificationVersion } from './language-model.js';

/** How much to think, for an AI SDK model: an option of its own in v4, options of each provider before. */
export function languageModelEffort(
  effort: Effort | undefined,
  version: SpecificationVersion,
  { provider, modelId }: Pick<LanguageModel, 'provider' | 'modelId'>,
): object {
  if (effort === undefined) return {};
  if (version === 'v4') return { reasoning: effort };
  const name = provider.split('.')[0] ?? provider;
  const family = families.find(({ providers }) => providers.test(provider)) ?? other;
  const place = { provider: name, model: modelId };
  const level = closestLevel(effort, effortRow(family.wire, place).levels);
  if (level === undefined) return {};
  return {
    providerOptions: { [family.key ?? name]: family.options(level, effortOptions(family.wire, { effort }, place)) },
  };
}

interface Family {
  providers: RegExp;
  wire: WireName;
  /** The key of its options, if it is not the name of the provider. */
  key?: string;
  options: (level: Effort, wireOptions: object) => object;
}

const families: readonly Family[] = [
  {
    providers: /bedrock/,
    wire: 'messages',
    key: 'bedrock',
    options: (level) => ({
      reasoningConfig:
        level === 'none' ? { type: 'disabled' } : { type: 'enabled', budgetTokens: thinkingTokens[level] },
    }),
  },
  {
    providers: /anthropic/,
    wire: 'messages',
    key: 'anthropic',
    options: (level) => ({
      thinking: level === 'none' ? { type: 'disabled' } : { type: 'enabled', budgetTokens: thinkingTokens[level] },
    }),
  },
  {
    providers: /google|vertex/,
    wire: 'gemini',
    key: 'google',
    options: (_, wireOptions) => ({ thinkingConfig: { includeThoughts: true, ...lowerCase(wireOptions) } }),
  },
];

const other: Family = { providers: /$/, wire: 'chat', options: (level) => ({ reasoningEffort: level }) };

/** The AI SDK writes levels in lower case. */
function lowerCase(options: object): object {
  return Object.fromEntries(
    Object.entries(options).map(([key, value]) => [key, typeof value === 'string' ? value.toLowerCase() : value]),
  );
}
