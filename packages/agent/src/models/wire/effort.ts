import { type Effort, efforts, type ModelRequest } from '../model.js';
import type { Endpoint, WireName } from './wire-format.js';

type Place = Pick<Endpoint, 'provider' | 'model'>;

/** The fields of a request that say how much to think; empty when nobody asked or the model has no such thing. */
export function effortOptions(
  wire: WireName,
  { effort, maxOutputTokens }: Pick<ModelRequest, 'effort' | 'maxOutputTokens'>,
  endpoint: Place & Pick<Endpoint, 'maxOutputTokens'>,
): object {
  const { way, levels } = effortRow(wire, endpoint);
  const level = effort === undefined ? undefined : closestLevel(effort, levels);
  if (way === 'responses') return responsesOptions(level);
  if (level === undefined) return {};
  return write[way](level, maxOutputTokens ?? endpoint.maxOutputTokens);
}

export function effortRow(wire: WireName, { provider, model }: Place): EffortRow {
  const fits = (each: EffortRow) =>
    each.wire === wire && (each.provider ?? provider) === provider && each.models.test(model);
  return effortTable.find(fits) ?? { wire, family: '', models: /$/, way: 'omitted', levels: [] };
}

/** The highest level up to the one asked for, or else the lowest. Only `none` turns thinking off. */
export function closestLevel(effort: Effort, levels: readonly Effort[]): Effort | undefined {
  if (levels.includes(effort)) return effort;
  const thinking = levels.filter((level) => level !== 'none');
  return thinking.findLast((level) => efforts.indexOf(level) <= efforts.indexOf(effort)) ?? thinking[0];
}

/** Encrypted reasoning is asked for whatever the effort is: without it a call loses the thoughts that led to it. */
function responsesOptions(level: Effort | undefined): object {
  const reasoning = { ...(level !== undefined && { effort: level }), ...(level !== 'none' && { summary: 'auto' }) };
  return { reasoning, include: ['reasoning.encrypted_content'] };
}

/** For providers that take a number of tokens. */
export const thinkingTokens: Record<Effort, number> = {
  none: 0,
  minimal: 1_024,
  low: 2_048,
  medium: 8_192,
  high: 16_384,
  xhigh: 24_576,
  max: 32_000,
};

type Writer = (level: Effort, maxOutputTokens: number | undefined) => object;

const write: Record<Exclude<EffortWay, 'responses'>, Writer> = {
  reasoning_effort: (level) => ({ reasoning_effort: level }),
  reasoning: (level) => ({ reasoning: { effort: level } }),
  enable_thinking: (level) =>
    level === 'none' ? { enable_thinking: false } : { enable_thinking: true, thinking_budget: thinkingTokens[level] },
  thinking_type: (level) =>
    level === 'none'
      ? { thinking: { type: 'disabled' } }
      : { thinking: { type: 'enabled' }, ...(level === 'max' && { reasoning_effort: 'max' }) },
  adaptive: (level) =>
    level === 'none'
      ? { thinking: { type: 'disabled' } }
      : { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: level } },
  budget_tokens: (level, maxOutputTokens = 8_192) => {
    if (level === 'none') return { thinking: { type: 'disabled' } };
    // Thoughts are part of the output; at least a quarter stays for the answer. The API takes no budget below 1,024.
    const budget = Math.min(thinkingTokens[level], Math.floor(maxOutputTokens * 0.75));
    return budget < 1_024 ? {} : { thinking: { type: 'enabled', budget_tokens: budget } };
  },
  thinkingLevel: (level) => ({ thinkingLevel: level.toUpperCase() }),
  thinkingBudget: (level) => ({ thinkingBudget: Math.min(thinkingTokens[level], 24_576) }),
  omitted: () => ({}),
};

/** How an effort is written into a request. */
export type EffortWay =
  /** `reasoning: { effort }`, with encrypted reasoning and its summary. */
  | 'responses'
  /** `reasoning_effort`. */
  | 'reasoning_effort'
  /** `reasoning: { effort }`. */
  | 'reasoning'
  /** `enable_thinking` and `thinking_budget`. */
  | 'enable_thinking'
  /** `thinking: { type }` and `reasoning_effort`. */
  | 'thinking_type'
  /** `thinking: { type: 'adaptive' }` and `output_config: { effort }`. */
  | 'adaptive'
  /** `thinking: { type: 'enabled', budget_tokens }`. */
  | 'budget_tokens'
  /** `thinkingConfig: { thinkingLevel }`. */
  | 'thinkingLevel'
  /** `thinkingConfig: { thinkingBudget }`. */
  | 'thinkingBudget'
  /** The model does not think, or its effort cannot be set. */
  | 'omitted';

/** Which levels a family of models takes, and how they are written. */
export interface EffortRow {
  wire: WireName;
  /** For people. */
  family: string;
  /** Only for this provider. */
  provider?: string;
  models: RegExp;
  way: EffortWay;
  levels: readonly Effort[];
}

const toHigh = ['low', 'medium', 'high'] as const;
const toXhigh = ['low', 'medium', 'high', 'xhigh'] as const;
const budgets = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;

/** The first row that fits the wire, the provider and the name of a model counts. */
export const effortTable: readonly EffortRow[] = [
  ...openaiRows('responses', 'responses'),
  row('responses', 'any other', /$/, 'responses', toHigh),

  row('messages', 'claude-2, claude-3 before 3.7', /claude-(?:2|instant|3(?![.-]7))/i, 'omitted', []),
  row(
    'messages',
    'Claude 3.7 to 4.5',
    /claude-(?:3|(?:opus|sonnet|haiku)-4(?:[.-](?:[0-5]|20\d{6})|$|@))/i,
    'budget_tokens',
    budgets,
  ),
  row('messages', 'Claude 4.6', /claude-(?:opus|sonnet)-4[.-]6/i, 'adaptive', ['none', ...toHigh, 'max']),
  row('messages', 'newer Claude', /claude/i, 'adaptive', ['none', ...toXhigh, 'max']),
  row('messages', 'any other', /$/, 'budget_tokens', budgets),

  row('gemini', 'Gemini before 2.5, Gemma', /gemini-(?:1|2\.0)|gemma/i, 'omitted', []),
  row('gemini', 'Gemini 2.5 Pro', /gemini-2.*pro/i, 'thinkingBudget', budgets.slice(1)),
  row('gemini', 'Gemini 2.5 Flash', /gemini-2/i, 'thinkingBudget', budgets),
  row('gemini', 'Gemini 3 Pro', /gemini-3-pro/i, 'thinkingLevel', ['low', 'high']),
  row('gemini', 'newer Gemini Pro', /pro/i, 'thinkingLevel', toHigh),
  row('gemini', 'newer Gemini', /$/, 'thinkingLevel', ['minimal', ...toHigh]),

  {
    ...row('chat', 'any, through OpenRouter', /$/, 'reasoning', ['none', 'minimal', ...toXhigh]),
    provider: 'openrouter',
  },
  { ...row('chat', 'Qwen Coder', /coder/i, 'omitted', []), provider: 'dashscope' },
  { ...row('chat', 'any other at DashScope', /$/, 'enable_thinking', budgets), provider: 'dashscope' },
  { ...row('chat', 'DeepSeek', /$/, 'thinking_type', ['none', 'high', 'max']), provider: 'deepseek' },
  ...openaiRows('chat', 'reasoning_effort'),
  row('chat', 'grok-3-mini', /grok-3-mini/i, 'reasoning_effort', ['low', 'high']),
  row('chat', 'Grok 4', /grok-4(?!\.[3-9])/i, 'omitted', []),
  row('chat', 'Kimi, GLM', /kimi|glm-/i, 'thinking_type', ['none', 'high']),
  row('chat', 'any other', /$/, 'reasoning_effort', ['none', ...toHigh]),
];

function openaiRows(wire: WireName, way: EffortWay): EffortRow[] {
  return [
    row(wire, 'gpt-4 and before, chat models', /gpt-(?:3|4)|chatgpt|-chat(?:-|$)/i, 'omitted', []),
    row(wire, 'o1, o3, o4', /(?:^|\/)o[134](?:-|$)/i, way, toHigh),
    row(wire, 'gpt-oss', /gpt-oss/i, way, toHigh),
    row(wire, 'gpt-5-pro', /gpt-5-pro/i, way, ['high']),
    row(wire, 'gpt-5-codex, gpt-5.1-codex', /gpt-5(?:\.1)?-codex(?!-max)/i, way, toHigh),
    row(wire, 'gpt-5, gpt-5-mini, gpt-5-nano', /gpt-5(?!\.)/i, way, ['minimal', ...toHigh]),
    row(wire, 'gpt-5.1-codex-max and newer Codex models', /gpt-\d.*codex/i, way, toXhigh),
    row(wire, 'gpt-5.1', /gpt-5\.1/i, way, ['none', ...toHigh]),
    row(wire, 'newer pro models', /gpt-\d.*-pro/i, way, ['medium', 'high', 'xhigh']),
    row(wire, 'gpt-5.2 and newer', /gpt-\d/i, way, ['none', ...toXhigh]),
  ];
}

function row(wire: WireName, family: string, models: RegExp, way: EffortWay, levels: readonly Effort[]): EffortRow {
  return { wire, family, models, way, levels };
}
