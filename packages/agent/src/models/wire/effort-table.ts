import type { Effort } from '../model.js';
import type { WireName } from './wire-format.js';

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
  /** The model does not think, or does not let itself be told how much. */
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
