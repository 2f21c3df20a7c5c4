import type { WireFormat, WireName } from '../wire/wire-format.js';

/** A provider that Lathe knows by name. Any other OpenAI-compatible server is reached by its base URL. */
export interface Provider {
  name: string;
  wire: WireName;
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
  hosted('openai', 'chat', 'https://api.openai.com/v1', 'gpt-5', /^(?:gpt-|o[134](?:-|$)|chatgpt)/i),
  hosted(
    'dashscope',
    'chat',
    'https://dashscope.aliyuncs.com/compatible-mode/v1',
    'qwen3-coder-plus',
    /^(?:qwen|qwq)/i,
  ),
  hosted('anthropic', 'messages', 'https://api.anthropic.com/v1', 'claude-sonnet-4-6', /^claude/i),
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
  hosted('openrouter', 'chat', 'https://openrouter.ai/api/v1', 'qwen/qwen3-coder', /^[\w.-]+\/[\w.:-]+$/),
  hosted('deepseek', 'chat', 'https://api.deepseek.com/v1', 'deepseek-v4-flash', /^deepseek/i),
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
    ...hosted(name, 'chat', '', 'default', /$/),
    keyVariables: ['model.apiKey'],
    baseUrlVariables: [],
    modelVariables: ['OPENAI_MODEL'],
  };
}

/**
 * What a server is spoken to in: the person's choice, or else what fits. OpenAI's own host refuses tools beside
 * reasoning in Chat Completions; the servers that are compatible with it rarely have anything else.
 */
export function wireOf({ wire }: Provider, host: string, chosen: WireName | undefined): WireName {
  return chosen ?? (wire === 'chat' && host === 'api.openai.com' ? 'responses' : wire);
}

/** Each wire format is loaded only when a model needs it. */
export async function loadWireFormat(wire: WireName): Promise<WireFormat> {
  switch (wire) {
    case 'chat':
      return (await import('../wire/openai/openai.js')).openai;
    case 'responses':
      return (await import('../wire/responses/responses.js')).responses;
    case 'messages':
      return (await import('../wire/anthropic/anthropic.js')).anthropic;
    case 'gemini':
      return (await import('../wire/gemini/gemini.js')).gemini;
  }
}
