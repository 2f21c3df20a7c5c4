import type { ModelIdentity, Usage } from './model.js';

/** What a million tokens cost, in cents. */
export interface Price {
  input: number;
  output: number;
  /** Input that the provider had in its cache. Default: the same as `input`. */
  cachedInput?: number | undefined;
  /** Input that the provider put into its cache. Default: the same as `input`. */
  cacheWrite?: number | undefined;
}

/** Says what requests cost. */
export interface PriceList {
  /** Cents, or undefined when the price of the model is not known. */
  costOf(usage: Usage, model: ModelIdentity): Promise<number | undefined>;
}

/**
 * Prices of the person, by `model` or `provider/model`, before those that are published. The published ones are loaded
 * when they are first needed, and never fetched from the network.
 */
export function openPriceList(own: Readonly<Record<string, Price>> = {}): PriceList {
  return {
    async costOf(usage, model) {
      const names = [`${model.provider}/${model.id}`, model.id];
      const price = own[names.find((name) => Object.hasOwn(own, name)) ?? ''];
      if (price) return costAt(price, usage);
      return unpublished.has(model.provider) ? undefined : publishedCost(usage, model);
    },
  };
}

/** There are no published prices for a self-hosted server, so the list need not be loaded. */
const unpublished: ReadonlySet<string> = new Set(['ollama', 'lmstudio', 'llamacpp', 'vllm', 'custom', 'scripted']);

async function publishedCost(usage: Usage, { id, provider }: ModelIdentity): Promise<number | undefined> {
  // Where the list is missing, as in a bundle without it, prices are not known.
  const list = await import('@pydantic/genai-prices').catch(() => undefined);
  const { inputTokens, outputTokens, cachedInputTokens, cacheWriteTokens = 0 } = usage;
  const counts = {
    // The list throws when the parts are more than the whole, as with servers that count cached tokens apart.
    input_tokens: Math.max(inputTokens, cachedInputTokens + cacheWriteTokens),
    output_tokens: outputTokens,
    cache_read_tokens: cachedInputTokens,
    cache_write_tokens: cacheWriteTokens,
  };
  const dollars = list?.calcPrice(counts, id, { providerId: provider })?.total_price;
  return dollars === undefined ? undefined : dollars * 100;
}

function costAt({ input, output, cachedInput = input, cacheWrite = input }: Price, usage: Usage): number {
  const { inputTokens, outputTokens, cachedInputTokens, cacheWriteTokens = 0 } = usage;
  const fresh = Math.max(0, inputTokens - cachedInputTokens - cacheWriteTokens);
  const total = fresh * input + cachedInputTokens * cachedInput + cacheWriteTokens * cacheWrite + outputTokens * output;
  return total / 1_000_000;
}
