import { expect, test, vi } from 'vitest';
import { policyOf, schedulerOf, yes } from '../../../../testing/scheduler-kit.js';
import type { AuditRecord } from '../contract/call.js';
import type { Decision } from '../contract/confirmation.js';
import { ToolError } from '../contract/errors.js';
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

test.each<[string, unknown, string]>([
  ['nothing', undefined, 'undefined'],
  ['a number', 42, 'number'],
  ['null', null, 'null'],
  ['a list', ['a', 'b'], 'a list'],
  ['a list in a list', { llmContent: [['a']] }, 'llmContent that is neither text'],
  ['an object without content', { text: 'x' }, 'an object without llmContent'],
])('a tool that returns %s instead of a result gets an error that says so', async (_title, value, what) => {
  // What JavaScript lets an author write.
  const tool = toolThat(async () => value as ToolResult);
  const [outcome] = await schedulerOf([tool]).scheduler.run([{ name: 'tool' }], signal);
  expect(outcome?.error?.message).toContain(`returned ${what}`);
});

test('a result without a display shows people what the model gets', async () => {
  const content = ['one', { text: ' two' }, { inlineData: { mimeType: 'image/png', data: 'AAAA' } }];
  const tool = toolThat(async () => ({ llmContent: content }) as unknown as ToolResult);
  const [outcome] = await schedulerOf([tool]).scheduler.run([{ name: 'tool' }], signal);
  expect(outcome).toMatchObject({ status: 'success', returnDisplay: 'one two' });
});

test('what a model cannot get as a part of a result reaches it as text, in its place', async () => {
  const image = { inlineData: { mimeType: 'image/png', data: 'AAAA' } };
  const parts = [
    'before',
    { functionResponse: { name: 'inner', response: { output: '' }, parts: [{ text: 'nested' }, image] } },
    { text: 'caption', ...image },
    { functionCall: { name: 'x', args: { a: 1 } } },
    'after',
  ];
  const tool = toolThat(async () => ({ llmContent: parts, returnDisplay: '' }));
  const [outcome] = await schedulerOf([tool]).scheduler.run([{ name: 'tool' }], signal);
  expect(outcome?.response.parts).toEqual([
    { text: 'before' },
    { text: 'nested' },
    image,
    { text: 'caption' },
    image,
    { text: '{"functionCall":{"name":"x","args":{"a":1}}}' },
    { text: 'after' },
  ]);
});

test('a result with more media than any model takes keeps what fits, and names the rest in its place', async () => {
  const image = (chars: number) => ({ inlineData: { mimeType: 'image/png', data: 'A'.repeat(chars) } });
  const parts = ['one', image(50_000_000), 'two', image(16_000_000), image(16_000_000), image(4), 'end'];
  const tool = toolThat(async () => ({ llmContent: parts, returnDisplay: '' }));
  const [outcome] = await schedulerOf([tool]).scheduler.run([{ name: 'tool' }], signal);
  expect(outcome?.response.parts?.map(({ text, inlineData }) => text ?? inlineData?.data?.length)).toEqual([
    'one',
    '[image/png: left out, because 50000000 characters of base64 are too many for a result]',
    'two',
    16_000_000,
    '[image/png: left out, because 16000000 characters of base64 are too many for a result]',
    4,
    'end',
  ]);
});

test.each([[undefined], [true], [{}], [{ outcome: 'yes' }]])('the answer %j is not a yes', async (answer) => {
  const tool = new AskingTool();
  const approver = { decide: async () => answer as Decision };
  const calls = [{ name: 'asking' }, { name: 'asking' }];
  const outcomes = await schedulerOf([tool], { approver }).scheduler.run(calls, signal);
  expect(outcomes.map(({ status }) => status)).toEqual(['error', 'error']);
  expect(tool.ran).toEqual([]);
});

test('a tool that calls itself without end fails', async () => {
  let depth = 0;
  const tool = defineTool({
    name: 'again',
    description: '',
    parameterSchema: anything,
    execute: async (_params, own, call) => {
      depth++;
      const [inner] = await call.run([{ name: 'again' }], own);
      return inner?.error ? Promise.reject(new ToolError(inner.error.type, inner.error.message)) : 'done';
    },
  });
  const [outcome] = await schedulerOf([tool]).scheduler.run([{ name: 'again' }], signal);
  expect(outcome?.error).toEqual({
    type: 'execution_failed',
    message: 'Calls can run other calls at most 16 levels deep.',
  });
  expect(depth).toBe(16);
});

test('what a call runs through another one ends with it', async () => {
  const ended: string[] = [];
  const inner = defineTool({
    name: 'inner',
    description: '',
    parameterSchema: anything,
    execute: (_params, own) =>
      new Promise<string>((_resolve, reject) => {
        own.addEventListener('abort', () => {
          ended.push('inner');
          reject(new Error('aborted'));
        });
      }),
  });
  const outer = defineTool({
    name: 'outer',
    description: '',
    parameterSchema: anything,
    timeoutMs: 50,
    // A signal that nobody aborts.
    execute: async (_params, _own, call) =>
      `${(await call.run([{ name: 'inner' }, { name: 'inner' }], signal)).length}`,
  });
  const { scheduler } = schedulerOf([inner, outer], { graceMs: 10 });
  expect((await scheduler.run([{ name: 'outer' }], signal))[0]?.error?.type).toBe('execution_timeout');
  await vi.waitFor(() => expect(ended).toEqual(['inner']));
});
