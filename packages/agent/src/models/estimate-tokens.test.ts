import { expect, test } from 'vitest';
import { knownModel } from './choose/known-models.js';
import { estimateMessageTokens, estimateRequestTokens, estimateTokens } from './estimate-tokens.js';

/** Token counts of the o200k encoding, taken once. */
test.each([
  ['The quick brown fox jumps over the lazy dog. It barks, and nobody minds at all.', 20],
  [
    'export function textOf(content: PartListUnion): string {\n  if (typeof content === "string") return content;\n}',
    25,
  ],
  ['这是一个用于测试分词器的中文句子。我们希望估计的数量接近真实值。', 23],
  ['{"name":"read_file","arguments":{"absolute_path":"/home/me/src/index.ts","limit":200}}', 22],
])('%s', (text, tokens) => {
  const ratio = estimateTokens(text) / tokens;
  expect(ratio).toBeGreaterThan(0.75);
  expect(ratio).toBeLessThan(1.5);
});

test('a request is the sum of its parts, media included', () => {
  const message = {
    role: 'user' as const,
    parts: [{ text: 'look at this' }, { inlineData: { mimeType: 'image/png', data: 'AAAA' } }],
  };
  const tools = [{ name: 'ls', description: 'Lists.' }];
  expect(estimateMessageTokens(message)).toBeGreaterThan(1_000);
  expect(estimateRequestTokens({ system: 'Be brief.', history: [message, message], tools })).toBe(
    estimateTokens('Be brief.') + estimateTokens(JSON.stringify(tools)) + 2 * estimateMessageTokens(message),
  );
});

test.each([
  ['claude-sonnet-4-6', 200_000, true],
  ['gemini-2.5-pro', 1_000_000, true],
  ['gpt-4o-mini', 128_000, true],
  ['qwen3-coder-plus', 1_000_000, false],
  ['qwen3-coder:30b', 256_000, false],
  ['Qwen/Qwen2.5-VL-7B', 128_000, true],
  ['somebody/unheard-of', 128_000, false],
])('%s has defaults by its name', (name, contextWindow, images) => {
  expect(knownModel(name)).toMatchObject({ contextWindow, supports: { images } });
});
