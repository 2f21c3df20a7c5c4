import type { WireFormat } from '../wire/wire-format.js';

/** A provider that Lathe knows by name. Any other OpenAI-compatible server is reached by its base URL. */
export interface Provider {
  name: string;
  wire: 'openai' | 'anthropic' | 'gemini';
  baseUrl: string;
  /** Variables that may hold the key. The first one set counts; messages name the first. */
  keyVariables: readonly [string, ...string[]];
  baseUrlVariables: readonly string[];
  modelVariables: readonly string[];
  defaultModel: string;
  /** Bare model names that belong to this provider. */
  models: RegExp;
}

/** In the order in which they are tried when several keys are set and nothing else decides. */
export const providers: readonly Provider[] = [
  hosted('openai', 'openai', 'https://api.openai.com/v1', 'gpt-5', /^(?:gpt-|o[134](?:-|$)|chatgpt)/i),
  hosted(
    'dashscope',
    'openai',
    'https://dashscope.aliyuncs.com/compatible-mode/v1',
    'qwen3-coder-plus',
    /^(?:qwen|qwq)/i,
  ),
  hosted('anthropic', 'anthropic', 'https://api.anthropic.com/v1', 'claude-sonnet-4-6', /^claude/i),
  {
    ...hosted(
      'gemini',
      'gemini',
      'https://generativelanguage.googleapis.com/v1beta',
      'gemini-flash-latest',
      /^(?:gemini|gemma)/i,
    ),
    keyVariables: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
    baseUrlVariables: ['GOOGLE_GEMINI_BASE_URL', 'GEMINI_BASE_URL'],
  },
  hosted('openrouter', 'openai', 'https://openrouter.ai/api/v1', 'qwen/qwen3-coder', /^[\w.-]+\/[\w.:-]+$/),
  hosted('deepseek', 'openai', 'https://api.deepseek.com/v1', 'deepseek-chat', /^deepseek/i),
];

function hosted(name: string, wire: Provider['wire'], baseUrl: string, defaultModel: string, models: RegExp): Provider {
  const prefix = name.toUpperCase();
  return {
    name,
    wire,
    baseUrl,
    keyVariables: [`${prefix}_API_KEY`],
    baseUrlVariables: [`${prefix}_BASE_URL`],
    modelVariables: [`${prefix}_MODEL`],
    defaultModel,
    models,
  };
}

const aliases: Record<string, string> = {
  google: 'gemini',
  qwen: 'dashscope',
  alibaba: 'dashscope',
  claude: 'anthropic',
};

export function providerNamed(name: string): Provider | undefined {
  const key = name.toLowerCase();
  return providers.find((provider) => provider.name === (aliases[key] ?? key));
}

/** An OpenAI-compatible server of which only the address is known. No variable holds a key for it. */
export function customProvider(name: string): Provider {
  return {
    ...hosted(name, 'openai', '', 'default', /$/),
    keyVariables: ['model.apiKey'],
    baseUrlVariables: [],
    modelVariables: ['OPENAI_MODEL'],
  };
}

/** Each wire format is loaded only when a model needs it. */
export async function loadWireFormat(wire: Provider['wire']): Promise<WireFormat> {
  switch (wire) {
    case 'openai':
      return (await import('../wire/openai/openai.js')).openai;
    case 'anthropic':
      return (await import('../wire/anthropic/anthropic.js')).anthropic;
    case 'gemini':
      return (await import('../wire/gemini/gemini.js')).gemini;
  }
}
