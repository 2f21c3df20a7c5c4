import { expect, test } from 'vitest';
import type { Usage } from './model.js';
import { openPriceList } from './prices.js';

const million = 1_000_000;
const usage: Usage = { inputTokens: million, outputTokens: million, cachedInputTokens: 0, reasoningTokens: 0 };
const prices = openPriceList({
  'my-model': { input: 100, output: 200, cachedInput: 10, cacheWrite: 125 },
  'openai/gpt-5': { input: 1, output: 1 },
});

test('cached input and input that is put into the cache have their own prices', async () => {
  const model = { id: 'my-model', provider: 'custom' };
  expect(await prices.costOf(usage, model)).toBe(300);
  const cached = { ...usage, cachedInputTokens: 500_000, cacheWriteTokens: 200_000 };
  expect(await prices.costOf(cached, model)).toBe(0.3 * 100 + 0.5 * 10 + 0.2 * 125 + 200);
});

test('own prices come before published ones, and count for one provider if they say so', async () => {
  const published = await openPriceList().costOf(usage, { id: 'gpt-5', provider: 'openai' });
  expect(published).toBeGreaterThan(100);
  expect(await prices.costOf(usage, { id: 'gpt-5', provider: 'openai' })).toBe(2);
});

test.each([
  ['openai', 'gpt-5'],
  ['anthropic', 'claude-sonnet-4-6'],
  ['gemini', 'gemini-2.5-pro'],
  ['deepseek', 'deepseek-chat'],
  ['openrouter', 'qwen/qwen3-coder'],
])('%s publishes the price of %s, and cached input costs less', async (provider, id) => {
  const full = (await openPriceList().costOf(usage, { id, provider })) ?? 0;
  const cached = (await openPriceList().costOf({ ...usage, cachedInputTokens: million }, { id, provider })) ?? 0;
  expect(full).toBeGreaterThan(0);
  expect(cached).toBeGreaterThan(0);
  expect(cached).toBeLessThanOrEqual(full);
});

test.each([
  ['openai', 'a-model-that-does-not-exist'],
  ['somebody', 'gpt-5'],
  ['custom', 'gpt-5'],
  ['ollama', 'qwen3'],
])('nobody knows what %s takes for %s', async (provider, id) => {
  expect(await openPriceList().costOf(usage, { id, provider })).toBeUndefined();
});

test('counts that do not add up are charged in full, and no name is taken from the language', async () => {
  const odd = { ...usage, inputTokens: 10, cachedInputTokens: million, cacheWriteTokens: million };
  const model = { id: 'claude-sonnet-4-6', provider: 'anthropic' };
  const whole = { ...odd, inputTokens: 2 * million };
  expect(await openPriceList().costOf(odd, model)).toBe(await openPriceList().costOf(whole, model));
  expect(await openPriceList().costOf(usage, { id: 'constructor', provider: 'custom' })).toBeUndefined();
});
