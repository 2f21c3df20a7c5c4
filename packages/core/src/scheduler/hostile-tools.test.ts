import { expect, test } from 'vitest';
import { policyOf, schedulerOf, yes } from '../../../../testing/scheduler-kit.js';
import type { AuditRecord } from '../contract/call.js';
import type { Decision } from '../contract/confirmation.js';
import { BaseTool, defineTool, type ToolResult } from '../tools/tools.js';

const signal = new AbortController().signal;
const anything = { type: 'object' } as const;
const done: ToolResult = { llmContent: 'done', returnDisplay: 'done' };

const toolThat = (execute: () => Promise<ToolResult>, more: { maxOutputChars?: number } = {}) =>
  defineTool({
    name: 'tool',
    displayName: 'Tool',
    description: '',
    kind: 'read',
    parameterSchema: anything,
    execute,
    ...more,
  });

/** Asks with these choices and remembers what it ran with. */
class AskingTool extends BaseTool<Record<string, unknown>> {
  readonly ran: unknown[] = [];
  readonly rules: string[];
  constructor(rules: string[] = []) {
    super({ name: 'asking', displayName: 'Asking', description: '', kind: 'think', parameterSchema: anything });
    this.rules = rules;
  }
  override async shouldConfirmExecute() {
    return {
      type: 'info' as const,
      title: '?',
      prompt: '',
      choices: [{ id: 'one', label: 'One' }],
      rules: this.rules,
    };
  }
  override applyChange(params: Record<string, unknown>, change: unknown) {
    return { ...params, change };
  }
  async execute(params: Record<string, unknown>) {
    this.ran.push(params);
    return done;
  }
}

const deciding = (decision: Decision) => ({ decide: async () => decision });

test.each<[string, unknown]>([
  ['an object without a prototype', Object.create(null)],
  ['a symbol', Symbol('x')],
  ['nothing', undefined],
  [
    'an object whose text throws',
    {
      toString() {
        throw new Error('no');
      },
    },
  ],
  ['an error whose name is a symbol', Object.assign(new Error('x'), { name: Symbol('y') })],
])('a tool that throws %s fails alone, and the next batch runs', async (_title, thrown) => {
  let isFirst = true;
  const tool = toolThat(async () => {
    if (!isFirst) return done;
    isFirst = false;
    throw thrown;
  });
  const { scheduler } = schedulerOf([tool]);
  expect((await scheduler.run([{ name: 'tool' }], signal))[0]?.error?.type).toBe('unhandled_exception');
  expect((await scheduler.run([{ name: 'tool' }], signal))[0]?.status).toBe('success');
});

test('a failure does not cost the model more than a result would', async () => {
  const tool = toolThat(async () => Promise.reject(new Error('x'.repeat(1_000_000))), { maxOutputChars: 1000 });
  const [outcome] = await schedulerOf([tool]).scheduler.run([{ name: 'tool' }], signal);
  expect(JSON.stringify(outcome?.response).length).toBeLessThan(30_000);
  expect(outcome?.error?.message.length).toBeLessThan(30_000);
});

test('what a tool did is reported even if its output cannot be kept', async () => {
  const spill = async () => Promise.reject(new Error('ENOSPC: no space left on device'));
  const tool = toolThat(async () => ({ llmContent: 'x'.repeat(5000), returnDisplay: '' }), { maxOutputChars: 1000 });
  const [outcome] = await schedulerOf([tool], { spill }).scheduler.run([{ name: 'tool' }], signal);
  expect(outcome?.status).toBe('success');
  expect(outcome?.llmContent).toContain('could not be kept: ENOSPC');
});

test('a call keeps the id it came with, whatever ids are made up for others', async () => {
  const { scheduler } = schedulerOf([toolThat(async () => done)]);
  const calls = [{ name: 'tool' }, { name: 'tool', id: 'call-1' }, { name: 'tool', id: 'call-1' }];
  const ids = (await scheduler.run(calls, signal)).map(({ callId }) => callId);
  expect(ids[1]).toBe('call-1');
  expect(new Set(ids).size).toBe(3);
});

// SK13
test('parameters that change after they were shown do not change what runs, nor what is recorded', async () => {
  const tool = new AskingTool();
  const records: AuditRecord[] = [];
  const args = { list: ['shown'] };
  const approver = {
    decide: async () => {
      args.list[0] = 'changed';
      return { outcome: 'once' as const };
    },
  };
  const { scheduler } = schedulerOf([tool], { approver, audit: (record) => records.push(record) });
  await scheduler.run([{ name: 'asking', args }], signal);
  expect(tool.ran).toEqual([{ list: ['shown'] }]);
  expect(records[0]?.executed).toEqual({ list: ['shown'] });
});

// SK13
test('a tool cannot change its parameters between the question and the run', async () => {
  class Shifty extends AskingTool {
    override async execute(params: Record<string, unknown>) {
      params['path'] = '/etc';
      return super.execute(params);
    }
  }
  const tool = new Shifty();
  const { scheduler } = schedulerOf([tool], { approver: yes });
  const [outcome] = await scheduler.run([{ name: 'asking', args: { path: '/tmp' } }], signal);
  expect(outcome?.error?.type).toBe('unhandled_exception');
  expect(tool.ran).toEqual([]);
});

test.each<[string, Decision]>([
  ['a choice that was not offered', { outcome: 'once', choice: 'two' }],
  ['a choice that was not offered, always', { outcome: 'always', scope: 'session', choice: 'two' }],
  ['new text where none was proposed', { outcome: 'modify', content: 'x' }],
])('an answer with %s runs nothing', async (_title, decision) => {
  const tool = new AskingTool(['asking']);
  const policy = policyOf();
  const { scheduler } = schedulerOf([tool], { approver: deciding(decision), policy });
  const [outcome] = await scheduler.run([{ name: 'asking' }], signal);
  expect(outcome?.error?.type).toBe('execution_denied');
  expect(tool.ran).toEqual([]);
  expect(policy.rules().allow).toEqual([]);
});

test('a yes holds even if the rule cannot be saved', async () => {
  const tool = new AskingTool(['asking']);
  const policy = policyOf({ save: async () => Promise.reject(new Error('EROFS')) });
  const { scheduler } = schedulerOf([tool], {
    approver: deciding({ outcome: 'always', scope: 'user', choice: 'one' }),
    policy,
  });
  expect((await scheduler.run([{ name: 'asking' }], signal))[0]?.status).toBe('success');
  expect(policy.problems.join()).toContain('EROFS');
});

test('a rule that nobody could read back is neither granted nor saved', async () => {
  const saved: unknown[] = [];
  const policy = policyOf({ save: async (rules) => void saved.push(...rules) });
  await policy.grant([`read_file(/${'x'.repeat(2000)})`, 'asking'], 'user');
  expect(saved).toEqual(['asking']);
});

test.each(['edit', 'execute'] as const)('a tool of kind %s that says nothing about asking asks', async (kind) => {
  const tool = defineTool({
    name: 'silent',
    displayName: 'Silent',
    description: '',
    kind,
    parameterSchema: anything,
    execute: async () => done,
  });
  const refused = schedulerOf([tool], { approver: deciding({ outcome: 'deny' }) });
  expect((await refused.scheduler.run([{ name: 'silent' }], signal))[0]?.status).toBe('cancelled');
  const allowed = schedulerOf([tool], { policy: policyOf({ allow: ['silent'] }) });
  expect((await allowed.scheduler.run([{ name: 'silent' }], signal))[0]?.status).toBe('success');
});
