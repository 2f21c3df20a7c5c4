import type { ModelFeatures } from '../model.js';

/** Defaults by the name of a model, for when neither the settings nor the server say more. */
export interface KnownModel {
  contextWindow: number;
  maxOutputTokens?: number;
  supports: ModelFeatures;
}

/** The first pattern that matches wins. Too small a window is safe: it only compacts earlier. */
export function knownModel(name: string): KnownModel {
  const [, contextWindow, inputs, maxOutputTokens] = table.find(([pattern]) => pattern.test(name)) ?? unknown;
  return {
    contextWindow,
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    supports: { tools: true, ...inputsOf(inputs.split(', ')) },
  };
}

/** What a model accepts besides text, by the names of `model.inputs`. */
export function inputsOf(names: readonly string[]): Omit<ModelFeatures, 'tools'> {
  return {
    images: names.includes('image'),
    pdf: names.includes('pdf'),
    audio: names.includes('audio'),
    video: names.includes('video'),
  };
}

type Row = [pattern: RegExp, contextWindow: number, inputs: string, maxOutputTokens?: number];

const unknown: Row = [/$/, 128_000, 'text'];

const table: Row[] = [
  [/claude-3/i, 200_000, 'image, pdf', 8_192],
  [/claude/i, 200_000, 'image, pdf', 32_000],
  [/gemini-(?:1|2\.0)/i, 1_000_000, 'image, pdf, audio, video', 8_192],
  [/gemini/i, 1_000_000, 'image, pdf, audio, video'],
  [/gemma-?3/i, 128_000, 'image'],
  [/gpt-oss/i, 131_072, 'text'],
  [/gpt-(?:4o-)?audio/i, 128_000, 'audio', 16_384],
  [/gpt-5/i, 272_000, 'image, pdf'],
  [/gpt-4\.1/i, 1_000_000, 'image, pdf'],
  [/gpt-4o|chatgpt/i, 128_000, 'image, pdf', 16_384],
  [/(?:^|\/)o[134](?:-|$)/i, 200_000, 'image, pdf'],
  [/qwen.*omni/i, 32_000, 'image, audio, video'],
  [/qwen.*-?vl|qvq/i, 128_000, 'image'],
  [/qwen3[.\d]*-(?:coder-)?(?:plus|flash|next)/i, 1_000_000, 'text'],
  [/qwen3-(?:max|coder)/i, 256_000, 'text'],
  [/qwen-(?:plus|turbo|flash|long)/i, 1_000_000, 'text'],
  [/qwen|qwq/i, 128_000, 'text'],
  [/deepseek/i, 128_000, 'text'],
  [/kimi-k2|glm-4\.[67]|glm-[5-9]|minimax/i, 200_000, 'text'],
  [/grok-4/i, 256_000, 'image'],
  [/llama-?4|pixtral|llava|minicpm-v/i, 128_000, 'image'],
  [/mistral|devstral|codestral|llama|phi/i, 128_000, 'text'],
];
