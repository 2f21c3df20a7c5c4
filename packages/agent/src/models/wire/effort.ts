import { type Effort, efforts, type ModelRequest } from '../model.js';
import { type EffortRow, type EffortWay, effortTable } from './effort-table.js';
import type { Endpoint, WireName } from './wire-format.js';

type Place = Pick<Endpoint, 'provider' | 'model'>;

/** The fields of a request that say how much to think; empty when nobody asked or the model has no such thing. */
export function effortOptions(
  wire: WireName,
  { effort, maxOutputTokens }: Pick<ModelRequest, 'effort' | 'maxOutputTokens'>,
  endpoint: Place & Pick<Endpoint, 'maxOutputTokens'>,
): object {
  const row = effortRow(wire, endpoint);
  const level = effort === undefined ? undefined : closestLevel(effort, row.levels);
  if (row.way === 'responses') return responsesOptions(level);
  if (level === undefined) return {};
  return write[row.way](level, maxOutputTokens ?? endpoint.maxOutputTokens);
}

export function effortRow(wire: WireName, { provider, model }: Place): EffortRow {
  const fits = (row: EffortRow) =>
    row.wire === wire && (row.provider ?? provider) === provider && row.models.test(model);
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
