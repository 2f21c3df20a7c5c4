import type { WireFormat } from '../wire/wire-format.js';

/** A provider we know by name. Any other OpenAI-compatible server is reached by its base URL. */
export interface Provider {
  name: string;
  wire: 'openai' | 'anthropic' | 'gemini';
  baseUrl: string;
  /** Variables of the key, the first one set counts; the first is named in messages. */
  keyVariables: readonly [string, ...string[]];
  baseUrlVariables: readonly string[];
  modelVariables: readonly string[];
  defaultModel: string;
  /** Names that belong to this provider when somebody gives a bare model name. */
  models: RegExp;
}

/** In the order in which they are tried when several keys are set and nothing else says which is meant. */
export const providers: readonly Provider[] = [
  {
    name: 'openai',
    wire: 'openai',
    baseUrl: 'https://api.openai.com/v1',
    keyVariables: ['OPENAI_API_KEY'],
    baseUrlVariables: ['OPENAI_BASE_URL'],
    modelVariables: ['OPENAI_MODEL'],
    defaultModel: 'gpt-5',
    models: /^(?:gpt-|o[134](?:-|$)|chatgpt)/i,
  },
  {
    name: 'dashscope',
    wire: 'openai',
    baseUrl: 'https://dashscope.aliyuncs.com/compatible-mode/v1',
    keyVariables: ['DASHSCOPE_API_KEY'],
    baseUrlVariables: ['DASHSCOPE_BASE_URL'],
    modelVariables: ['DASHSCOPE_MODEL'],
    defaultModel: 'qwen3-coder-plus',
    models: /^(?:qwen|qwq)/i,
  },
  {
    name: 'anthropic',
    wire: 'anthropic',
    baseUrl: 'https://api.anthropic.com/v1',
    keyVariables: ['ANTHROPIC_API_KEY'],
    baseUrlVariables: ['ANTHROPIC_BASE_URL'],
    modelVariables: ['ANTHROPIC_MODEL'],
    defaultModel: 'claude-sonnet-4-6',
    models: /^claude/i,
  },
  {
    name: 'gemini',
    wire: 'gemini',
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
    keyVariables: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
    baseUrlVariables: ['GOOGLE_GEMINI_BASE_URL', 'GEMINI_BASE_URL'],
    modelVariables: ['GEMINI_MODEL'],
    defaultModel: 'gemini-flash-latest',
    models: /^(?:gemini|gemma)/i,
  },
  {
    name: 'openrouter',
    wire: 'openai',
    baseUrl: 'https://openrouter.ai/api/v1',
    keyVariables: ['OPENROUTER_API_KEY'],
    baseUrlVariables: ['OPENROUTER_BASE_URL'],
    modelVariables: ['OPENROUTER_MODEL'],
    defaultModel: 'qwen/qwen3-coder',
    models: /^[\w.-]+\/[\w.:-]+$/,
  },
  {
    name: 'deepseek',
    wire: 'openai',
    baseUrl: 'https://api.deepseek.com/v1',
    keyVariables: ['DEEPSEEK_API_KEY'],
    baseUrlVariables: ['DEEPSEEK_BASE_URL'],
    modelVariables: ['DEEPSEEK_MODEL'],
    defaultModel: 'deepseek-chat',
    models: /^deepseek/i,
  },
];

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

/** An OpenAI-compatible server of which only the address is known; no variable's key is meant for it. */
export function customProvider(name: string): Provider {
  return {
    name,
    wire: 'openai',
    baseUrl: '',
    keyVariables: ['model.apiKey'],
    baseUrlVariables: [],
    modelVariables: ['OPENAI_MODEL'],
    defaultModel: 'default',
    models: /$/,
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
