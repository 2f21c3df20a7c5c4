import type { ModelFeatures } from '../model.js';

/** Defaults by the name of a model, for when neither the settings nor the server say more. */
export interface KnownModel {
  contextWindow: number;
  maxOutputTokens?: number;
  supports: ModelFeatures;
}

/** The first pattern that matches wins. Too small a window is safe: it only compacts earlier. */
export function knownModel(name: string): KnownModel {
  const [, contextWindow, sees, maxOutputTokens] = table.find(([pattern]) => pattern.test(name)) ?? unknown;
  return {
    contextWindow,
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    supports: { tools: true, images: sees !== 'text', pdf: sees === 'images, pdf' },
  };
}

type Row = [pattern: RegExp, contextWindow: number, sees: 'text' | 'images' | 'images, pdf', maxOutputTokens?: number];

const unknown: Row = [/$/, 128_000, 'text'];

const table: Row[] = [
  [/claude-3/i, 200_000, 'images, pdf', 8_192],
  [/claude/i, 200_000, 'images, pdf', 32_000],
  [/gemini-(?:1|2\.0)/i, 1_000_000, 'images, pdf', 8_192],
  [/gemini/i, 1_000_000, 'images, pdf'],
  [/gemma-?3/i, 128_000, 'images'],
  [/gpt-oss/i, 131_072, 'text'],
  [/gpt-5/i, 272_000, 'images, pdf'],
  [/gpt-4\.1/i, 1_000_000, 'images, pdf'],
  [/gpt-4o|chatgpt/i, 128_000, 'images, pdf', 16_384],
  [/(?:^|\/)o[134](?:-|$)/i, 200_000, 'images, pdf'],
  [/qwen.*-?vl|qvq/i, 128_000, 'images'],
  [/qwen3[.\d]*-(?:coder-)?(?:plus|flash|next)/i, 1_000_000, 'text'],
  [/qwen3-(?:max|coder)/i, 256_000, 'text'],
  [/qwen-(?:plus|turbo|flash|long)/i, 1_000_000, 'text'],
  [/qwen|qwq/i, 128_000, 'text'],
  [/deepseek/i, 128_000, 'text'],
  [/kimi-k2|glm-4\.[67]|glm-[5-9]|minimax/i, 200_000, 'text'],
  [/grok-4/i, 256_000, 'images'],
  [/llama-?4|pixtral|llava|minicpm-v/i, 128_000, 'images'],
  [/mistral|devstral|codestral|llama|phi/i, 128_000, 'text'],
];
