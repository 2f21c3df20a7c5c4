import { expect, test } from 'vitest';
import { policyOf, schedulerOf } from '../../../../testing/scheduler-kit.js';
import type { Approver } from '../contract/call.js';
import type { Decision } from '../contract/confirmation.js';
import type { ApprovalMode } from '../policy/policy.js';
import { denyAll } from '../scheduler/approve.js';
import { ExitPlanModeTool } from './exitPlanMode.js';

const never = new AbortController().signal;

async function present(args: unknown, answer: Decision | Approver, mode: ApprovalMode = 'plan') {
  const policy = policyOf({ mode });
  const tool = new ExitPlanModeTool({
    isActive: () => policy.mode === 'plan',
    leave: (to) => {
      policy.mode = to;
    },
  });
  const approver = 'decide' in answer ? answer : { decide: async () => answer };
  const { scheduler } = schedulerOf([tool], { policy, approver });
  const [outcome] = await scheduler.run([{ name: 'exit_plan_mode', args: args as Record<string, unknown> }], never);
  return { outcome, mode: policy.mode };
}

test.each([
  ['a plain yes', { outcome: 'once' } as const, 'default'],
  ['yes with questions', { outcome: 'once', choice: 'default' } as const, 'default'],
  ['yes with edits', { outcome: 'once', choice: 'auto-edit' } as const, 'auto-edit'],
])('%s leaves plan mode', async (_title, answer, expected) => {
  const { outcome, mode } = await present({ plan: '1. look' }, answer);
  expect([outcome?.status, mode]).toEqual(['success', expected]);
  expect(outcome?.returnDisplay).toEqual({ type: 'plan_summary', message: 'Plan approved', plan: '1. look' });
});

test('a choice that was not offered leaves nothing', async () => {
  const { outcome, mode } = await present({ plan: '1. look' }, { outcome: 'once', choice: 'yolo' });
  expect([outcome?.error?.type, mode]).toEqual(['execution_denied', 'plan']);
});

test('a no keeps planning and tells the model what was said', async () => {
  const { outcome, mode } = await present({ plan: 'x' }, { outcome: 'deny', message: 'think about tests' });
  expect([outcome?.status, mode]).toEqual(['cancelled', 'plan']);
  expect(outcome?.llmContent).toContain('think about tests');
});

test('nobody there means no', async () => {
  const { outcome, mode } = await present({ plan: 'x' }, denyAll);
  expect([outcome?.error?.type, mode]).toEqual(['execution_denied', 'plan']);
});

test.each(['default', 'auto-edit', 'yolo'] as const)('in %s mode there is nothing to leave', async (from) => {
  const { outcome, mode } = await present({ plan: 'x' }, { outcome: 'once', choice: 'auto-edit' }, from);
  expect([outcome?.error?.type, mode]).toEqual(['execution_denied', from]);
});

test.each([[{}], [{ plan: ' \n' }], [{ plan: 'x', mode: 'yolo' }]])('%j is refused', async (args) => {
  const { outcome, mode } = await present(args, { outcome: 'once' });
  expect([outcome?.error?.type, mode]).toEqual(['invalid_tool_params', 'plan']);
});
