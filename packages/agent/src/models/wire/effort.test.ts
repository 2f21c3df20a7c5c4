import { expect, test } from 'vitest';
import type { Effort } from '../model.js';
import { effortOptions } from './effort.js';
import type { WireName } from './wire-format.js';

const summary = 'auto';
const include = ['reasoning.encrypted_content'];
const adaptive = { type: 'adaptive', display: 'summarized' };
const budget = (budget_tokens: number) => ({ thinking: { type: 'enabled', budget_tokens } });

test.each<[WireName, string, Effort | undefined, object]>([
  ['responses', 'openai/gpt-5.4', undefined, { reasoning: { summary }, include }],
  ['responses', 'openai/gpt-5.4', 'none', { reasoning: { effort: 'none' }, include }],
  ['responses', 'openai/gpt-5.4', 'max', { reasoning: { effort: 'xhigh', summary }, include }],
  ['responses', 'openai/gpt-5', 'none', { reasoning: { effort: 'minimal', summary }, include }],
  ['responses', 'openai/gpt-5.1', 'minimal', { reasoning: { effort: 'low', summary }, include }],
  ['responses', 'openai/gpt-5.1-codex', 'xhigh', { reasoning: { effort: 'high', summary }, include }],
  ['responses', 'openai/gpt-5.1-codex-max', 'xhigh', { reasoning: { effort: 'xhigh', summary }, include }],
  ['responses', 'openai/gpt-5-pro', 'low', { reasoning: { effort: 'high', summary }, include }],
  ['responses', 'openai/o4-mini', 'minimal', { reasoning: { effort: 'low', summary }, include }],
  ['responses', 'openai/gpt-4.1', 'high', {}],
  ['messages', 'anthropic/claude-3-5-sonnet-latest', 'high', {}],
  ['messages', 'anthropic/claude-3-7-sonnet-latest', 'low', budget(2_048)],
  ['messages', 'anthropic/claude-sonnet-4-5-20250929', 'max', budget(24_000)],
  ['messages', 'anthropic/claude-opus-4-20250514', 'none', { thinking: { type: 'disabled' } }],
  ['messages', 'anthropic/claude-opus-4-6', 'xhigh', { thinking: adaptive, output_config: { effort: 'high' } }],
  ['messages', 'anthropic/claude-opus-5-5', 'xhigh', { thinking: adaptive, output_config: { effort: 'xhigh' } }],
  ['messages', 'anthropic/claude-opus-5-5', undefined, {}],
  ['gemini', 'gemini/gemini-2.0-flash', 'high', {}],
  ['gemini', 'gemini/gemini-2.5-flash', 'none', { thinkingBudget: 0 }],
  ['gemini', 'gemini/gemini-2.5-pro', 'none', { thinkingBudget: 1_024 }],
  ['gemini', 'gemini/gemini-3-pro-preview', 'medium', { thinkingLevel: 'LOW' }],
  ['gemini', 'gemini/gemini-flash-latest', 'none', { thinkingLevel: 'MINIMAL' }],
  ['chat', 'openrouter/anthropic/claude-opus-5', 'max', { reasoning: { effort: 'xhigh' } }],
  ['chat', 'dashscope/qwen3-coder-plus', 'high', {}],
  ['chat', 'dashscope/qwen3.5-plus', 'none', { enable_thinking: false }],
  ['chat', 'dashscope/qwen3.5-plus', 'medium', { enable_thinking: true, thinking_budget: 8_192 }],
  ['chat', 'deepseek/deepseek-v4-pro', 'none', { thinking: { type: 'disabled' } }],
  ['chat', 'deepseek/deepseek-v4-pro', 'low', { thinking: { type: 'enabled' } }],
  ['chat', 'deepseek/deepseek-v4-pro', 'max', { thinking: { type: 'enabled' }, reasoning_effort: 'max' }],
  ['chat', 'custom/grok-4', 'high', {}],
  ['chat', 'ollama/gpt-oss:20b', 'max', { reasoning_effort: 'high' }],
  ['chat', 'custom/gpt-4o', 'high', {}],
])('%s, %s, %s', (wire, name, effort, expected) => {
  const slash = name.indexOf('/');
  const endpoint = { provider: name.slice(0, slash), model: name.slice(slash + 1), maxOutputTokens: 32_000 };
  expect(effortOptions(wire, effort === undefined ? {} : { effort }, endpoint)).toEqual(expected);
});

test('a budget leaves room for the answer, and none is sent where there is no room', () => {
  const endpoint = { provider: 'anthropic', model: 'claude-haiku-4-5' };
  expect(effortOptions('messages', { effort: 'max', maxOutputTokens: 4_000 }, endpoint)).toEqual(budget(3_000));
  expect(effortOptions('messages', { effort: 'max', maxOutputTokens: 1_000 }, endpoint)).toEqual({});
});
