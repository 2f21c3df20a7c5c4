import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { nobody, policyOf, schedulerOf, yes } from '../../../../testing/scheduler-kit.js';
import type { Approver, AuditRecord, CallEvent } from '../contract/call.js';
import type { Confirmation, Decision } from '../contract/confirmation.js';
import { ToolError } from '../contract/errors.js';
import { BaseTool, type Change, defineTool } from '../tools/tools.js';
import { denyAll } from './approve.js';

const never = new AbortController().signal;

const anything = { type: 'object', properties: {} } as const;

/** Answers with its `text`; changes nothing. */
const echo = defineTool({
  name: 'echo',
  displayName: 'Echo',
  description: 'Echoes.',
  kind: 'read',
  parameterSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  describe: ({ text }) => `Echo ${text}`,
  execute: async ({ text }) => ({ llmContent: text, returnDisplay: `shown ${text}` }),
});

/** Keeps what was written, in order, and asks first. */
class Notebook extends BaseTool<{ line: string }> {
  readonly lines: string[] = [];

  constructor() {
    super({
      name: 'note',
      displayName: 'Note',
      description: 'Notes a line.',
      kind: 'edit',
      parameterSchema: { type: 'object', properties: { line: { type: 'string' } }, required: ['line'] },
    });
  }

  override async shouldConfirmExecute({ line }: { line: string }): Promise<Confirmation> {
    return {
      type: 'info',
      title: 'Note?',
      prompt: `${line} after ${this.lines.length} lines`,
      rules: ['note'],
      choices: [{ id: 'loud', label: 'In capitals' }],
    };
  }

  override applyChange({ line }: { line: string }, change: Change) {
    return { line: change.type === 'content' ? change.content : line.toUpperCase() };
  }

  async execute({ line }: { line: string }) {
    this.lines.push(line);
    return { llmContent: `noted ${line}`, returnDisplay: '' };
  }
}

test('a call goes through all nine steps', async () => {
  const events: CallEvent[] = [];
  const run = schedulerOf([echo]).scheduler.run([{ id: 'a', name: 'echo', args: { text: 'hi' } }], never);
  for await (const event of run) events.push(event);
  const [outcome] = await run;
  expect(outcome).toEqual({
    callId: 'a',
    name: 'echo',
    status: 'success',
    llmContent: 'hi',
    returnDisplay: 'shown hi',
    response: { id: 'a', name: 'echo', response: { output: 'hi' } },
    description: 'Echo hi',
    startedAt: expect.any(Number),
    durationMs: expect.any(Number),
    verdict: { verdict: 'allow', reason: 'it needs no confirmation' },
  });
  expect(
    events.map((event) => (event.type === 'call-update' ? `${event.status}: ${event.description}` : event.type)),
  ).toEqual(['validating: echo', 'scheduled: Echo hi', 'executing: Echo hi', 'call-end']);
});

function nested(depth: number): Record<string, unknown> {
  let value = {};
  for (let level = 0; level < depth; level++) value = { text: value };
  return value;
}

// RX03, RX04, RX07
test.each([
  ['an unknown tool', { name: 'ecko', args: {} }, 'tool_not_registered', /no tool named "ecko".*echo/],
  ['a name like no other', { name: 'nosuch', args: {} }, 'tool_not_registered', /no tool named "nosuch"\.$/],
  ['a missing name', { args: {} }, 'tool_not_registered', /no tool named ""/],
  ['a near miss in case', { name: 'Echo', args: { text: 'x' } }, 'tool_not_registered', /echo/],
  ['a missing parameter', { name: 'echo', args: {} }, 'invalid_tool_params', /text/],
  ['missing arguments', { name: 'echo' }, 'invalid_tool_params', /text/],
  ['a wrong type', { name: 'echo', args: { text: [] } }, 'invalid_tool_params', /text/],
  [
    'cut off arguments',
    { name: 'echo', args: { text: 'x' }, problem: 'Cut off.' },
    'invalid_tool_params',
    /Cut off\. Nothing was executed/,
  ],
  ['endless nesting', { name: 'echo', args: nested(100_000) }, 'invalid_tool_params', /nested more than 100 levels/],
  [
    'a crowd of values',
    { name: 'echo', args: { text: 'x', more: Array.from({ length: 200_000 }, () => 1) } },
    'invalid_tool_params',
    /more than 100000 values/,
  ],
  ['text that is not JSON', { name: 'echo', args: '{"text": "x' as never }, 'invalid_tool_params', /not valid JSON/],
])('%s is answered with a typed error and never executed', async (_title, call, type, message) => {
  const { scheduler } = schedulerOf([echo]);
  const [outcome] = await scheduler.run([call], never);
  expect(outcome).toMatchObject({ status: 'error', error: { type, message: expect.stringMatching(message) } });
  expect(outcome?.response.response?.['error']).toMatch(message);
});

test('a name that another agent has for a tool is answered with ours', async () => {
  const tool = defineTool({
    name: 'run_shell_command',
    displayName: 'Shell',
    description: '',
    kind: 'execute',
    parameterSchema: anything,
    execute: async () => ({ llmContent: '', returnDisplay: '' }),
  });
  const { scheduler } = schedulerOf([tool]);
  const [outcome] = await scheduler.run([{ name: 'Bash', args: {} }], never);
  expect(outcome?.error?.message).toBe('There is no tool named "Bash". Did you mean run_shell_command?');
});

test('arguments as JSON text are understood', async () => {
  const { scheduler } = schedulerOf([echo]);
  const [outcome] = await scheduler.run([{ name: 'echo', args: '{"text":"x"}' as never }], never);
  expect(outcome).toMatchObject({ status: 'success', llmContent: 'x' });
});

test('a repaired call runs, and the model learns how it was repaired', async () => {
  const tool = defineTool({
    name: 'wait',
    displayName: 'Wait',
    description: '',
    kind: 'read',
    parameterSchema: { type: 'object', properties: { seconds: { type: 'integer' } } },
    execute: async ({ seconds }) => ({ llmContent: `${typeof seconds} ${seconds}`, returnDisplay: '' }),
  });
  const { scheduler } = schedulerOf([tool]);
  const [outcome] = await scheduler.run([{ name: 'wait', args: { seconds: '5' } }], never);
  expect(outcome?.llmContent).toMatch(/repaired.*seconds[\s\S]*number 5/);
});

test('duplicate and missing ids become unique, one outcome each, in call order', async () => {
  const { scheduler } = schedulerOf([echo]);
  const call = (id: string | undefined, text: string) => ({
    ...(id !== undefined && { id }),
    name: 'echo',
    args: { text },
  });
  const outcomes = await scheduler.run(
    [call('x', '1'), call('x', '2'), call(undefined, '3'), call('', '4'), call('x', '5')],
    never,
  );
  expect(outcomes.map(({ llmContent }) => llmContent)).toEqual(['1', '2', '3', '4', '5']);
  expect(new Set(outcomes.map(({ callId }) => callId)).size).toBe(5);
});

test('a throw, also before the first await, is isolated to its call', async () => {
  const rude = defineTool({
    name: 'rude',
    displayName: 'Rude',
    description: '',
    kind: 'read',
    parameterSchema: anything,
    execute: () => {
      throw new TypeError('oops');
    },
  });
  const firm = defineTool({
    name: 'firm',
    displayName: 'Firm',
    description: '',
    kind: 'read',
    parameterSchema: anything,
    execute: async () => {
      throw new ToolError('file_not_found', 'File not found: x');
    },
  });
  const { scheduler } = schedulerOf([rude, firm, echo]);
  const outcomes = await scheduler.run(
    [{ name: 'rude' }, { name: 'firm' }, { name: 'echo', args: { text: 'ok' } }],
    never,
  );
  expect(outcomes.map(({ status, error }) => [status, error?.type])).toEqual([
    ['error', 'unhandled_exception'],
    ['error', 'file_not_found'],
    ['success', undefined],
  ]);
});

test('a result with an error is a failure whose content still reaches the model', async () => {
  const tool = defineTool({
    name: 'sh',
    displayName: 'Shell',
    description: '',
    kind: 'read',
    parameterSchema: anything,
    execute: async () => ({
      llmContent: 'Exit Code: 2',
      returnDisplay: 'out',
      error: { type: 'shell_execute_error', message: 'exit 2' },
    }),
  });
  const { scheduler } = schedulerOf([tool]);
  const [outcome] = await scheduler.run([{ id: '1', name: 'sh' }], never);
  expect(outcome).toMatchObject({
    status: 'error',
    returnDisplay: 'out',
    response: { response: { error: 'Exit Code: 2' } },
  });
});

test('neighbouring reads run together, at most ten at once; a change waits for them and they for it', async () => {
  let running = 0;
  let most = 0;
  const log: string[] = [];
  const look = (name: string, kind: 'read' | 'other') =>
    defineTool({
      name,
      displayName: name,
      description: '',
      kind,
      parameterSchema: anything,
      execute: async () => {
        most = Math.max(most, ++running);
        if (kind === 'other') expect(running).toBe(1);
        await new Promise((resolve) => setImmediate(resolve));
        running--;
        log.push(name);
        return { llmContent: '', returnDisplay: '' };
      },
    });
  const { scheduler } = schedulerOf([look('see', 'read'), look('do', 'other')]);
  const see = { name: 'see' };
  const act = { name: 'do' };
  await scheduler.run([...Array.from({ length: 25 }, () => see), act, see, see, act, act], never);
  expect(most).toBe(10);
  expect(log.join(' ')).toBe([...Array.from({ length: 25 }, () => 'see'), 'do', 'see', 'see', 'do', 'do'].join(' '));
});

test('each call is shown against the world the calls before it left', async () => {
  const notebook = new Notebook();
  const prompts: string[] = [];
  const approver = {
    decide: async ({ confirmation }: { confirmation: { type: string; prompt?: string } }) => {
      prompts.push(confirmation.prompt ?? '');
      return { outcome: 'once' as const };
    },
  };
  const { scheduler } = schedulerOf([notebook], { approver });
  await scheduler.run(
    [
      { name: 'note', args: { line: 'a' } },
      { name: 'note', args: { line: 'b' } },
    ],
    never,
  );
  expect(prompts).toEqual(['a after 0 lines', 'b after 1 lines']);
});

test('"always" releases the waiting calls it covers', async () => {
  const notebook = new Notebook();
  let asked = 0;
  const approver = {
    decide: async (): Promise<Decision> => {
      asked++;
      return { outcome: 'always', scope: 'session' };
    },
  };
  const { scheduler } = schedulerOf([notebook], { approver });
  const note = (line: string) => ({ name: 'note', args: { line } });
  await scheduler.run([note('a'), note('b'), note('c')], never);
  expect([asked, notebook.lines]).toEqual([1, ['a', 'b', 'c']]);
});

test('the model gets a no with what the person said, and the next call still runs', async () => {
  const notebook = new Notebook();
  const approver = { decide: async (): Promise<Decision> => ({ outcome: 'deny', message: 'use the other file' }) };
  const { scheduler } = schedulerOf([notebook, echo], { approver });
  const outcomes = await scheduler.run(
    [
      { name: 'note', args: { line: 'a' } },
      { name: 'echo', args: { text: 'x' } },
    ],
    never,
  );
  expect(outcomes[0]).toMatchObject({
    status: 'cancelled',
    error: { type: 'execution_denied' },
    response: { response: { error: expect.stringMatching(/did not allow.*use the other file/) } },
  });
  expect(outcomes[1]?.status).toBe('success');
  expect(notebook.lines).toEqual([]);
});

/** Also lets a person rewrite the line. */
class OpenNotebook extends Notebook {
  override async shouldConfirmExecute({ line }: { line: string }): Promise<Confirmation> {
    const { title, choices } = await super.shouldConfirmExecute({ line });
    const edit = { fileName: 'notes', filePath: '/notes', fileDiff: `${line} after 0 lines`, newContent: line };
    return { type: 'edit' as const, title, choices: choices ?? [], ...edit };
  }
}

test('what a person rewrote is shown again before it runs, and a choice reaches the tool', async () => {
  const notebook = new OpenNotebook();
  const shown: unknown[] = [];
  const answers: Decision[] = [
    { outcome: 'modify', content: 'better' },
    { outcome: 'once', choice: 'loud' },
  ];
  const approver = {
    decide: async ({ args }: { args: unknown }) => {
      shown.push(args);
      return answers.shift() ?? { outcome: 'deny' as const };
    },
  };
  const audit: AuditRecord[] = [];
  const { scheduler } = schedulerOf([notebook], { approver, audit: (record) => audit.push(record) });
  await scheduler.run([{ id: '1', name: 'note', args: { line: 'good' } }], never);
  expect([shown, notebook.lines]).toEqual([[{ line: 'good' }, { line: 'better' }], ['BETTER']]);
  expect(audit).toEqual([
    {
      callId: '1',
      tool: 'note',
      proposed: { line: 'good' },
      verdict: { verdict: 'ask', reason: 'no rule allows it' },
      shown: expect.objectContaining({ fileDiff: 'better after 0 lines' }),
      decision: { outcome: 'once', choice: 'loud' },
      executed: { line: 'BETTER' },
      status: 'success',
      durationMs: expect.any(Number),
    },
  ]);
});

test('with nobody there a question is a no, with the reason', async () => {
  const notebook = new Notebook();
  const { scheduler } = schedulerOf([notebook], { approver: denyAll });
  const [outcome] = await scheduler.run([{ name: 'note', args: { line: 'a' } }], never);
  expect(outcome).toMatchObject({
    status: 'error',
    error: {
      type: 'execution_denied',
      message: expect.stringMatching(/nobody is there.* Allow it with .+ in permissions\.allow/),
    },
  });
  expect(notebook.lines).toEqual([]);
});

test('an ask rule makes a tool ask that would not have', async () => {
  const { scheduler } = schedulerOf([echo], { policy: policyOf({ ask: ['echo'] }), approver: denyAll });
  const [outcome] = await scheduler.run([{ name: 'echo', args: { text: 'x' } }], never);
  expect(outcome?.error?.type).toBe('execution_denied');
  // No rule and no mode would help, so none is recommended.
  expect(outcome?.error?.message).toMatch(/the rule "echo" asks\) and nobody is there to give it\.$/);
});

test('live output is passed on while the call runs and never after it ended', async () => {
  let late: ((display: string) => void) | undefined;
  const tool = defineTool({
    name: 'talk',
    displayName: 'Talk',
    description: '',
    kind: 'read',
    parameterSchema: anything,
    execute: async (_params, _signal, call) => {
      call.output('one');
      call.output('two');
      late = (text) => call.output(text);
      return { llmContent: 'done', returnDisplay: '' };
    },
  });
  const seen: unknown[] = [];
  const { scheduler } = schedulerOf([tool]);
  for await (const event of scheduler.run([{ name: 'talk' }], never))
    if (event.type === 'call-output') seen.push(event.display);
  late?.('three');
  expect(seen).toEqual(['one', 'two']);
});

test('a long answer is cut, spilled whole and named; media stay', async () => {
  const text = Array.from({ length: 5000 }, (_, n) => `line ${n}`).join('\n');
  const image = { inlineData: { mimeType: 'image/png', data: 'AAAA' } };
  const tool = defineTool({
    name: 'long',
    displayName: 'Long',
    description: '',
    kind: 'read',
    parameterSchema: anything,
    maxOutputChars: 1000,
    execute: async () => ({ llmContent: [text, image], returnDisplay: '' }),
  });
  const { scheduler, spilled } = schedulerOf([tool]);
  const [outcome] = await scheduler.run([{ id: 'c', name: 'long' }], never);
  expect(spilled.get('long-c')).toBe(text);
  const [{ text: output = '' } = {}, ...media] = outcome?.response.parts ?? [];
  expect(output.length).toBeLessThan(1400);
  expect(output).toMatch(
    /^line 0\n[\s\S]*characters left out here; the whole output is in \/spill\/long-c[\s\S]*line 4999$/,
  );
  expect(media).toEqual([image]);
});

test('of several texts beside media those that fit stay, and a note stands where the cut begins', async () => {
  const image = { inlineData: { mimeType: 'image/png', data: 'AAAA' } };
  const texts = ['a'.repeat(1000), 'b'.repeat(50), 'c'];
  const tool = defineTool({
    ...spec('long'),
    maxOutputChars: 1000,
    execute: async () => ({
      llmContent: [texts[0] ?? '', image, texts[1] ?? '', image, texts[2] ?? ''],
      returnDisplay: '',
    }),
  });
  const [outcome] = await schedulerOf([tool]).scheduler.run([{ id: 'c', name: 'long' }], never);
  expect(outcome?.response.parts).toEqual([
    { text: texts[0] },
    image,
    { text: expect.stringContaining('50 characters left out here; the whole output is in /spill/long-c') },
    image,
  ]);
});

test('an empty answer says so', async () => {
  const { scheduler } = schedulerOf([echo]);
  const [outcome] = await scheduler.run([{ name: 'echo', args: { text: '' } }], never);
  expect(outcome?.response.response).toEqual({ output: 'echo completed with no output.' });
});

const hang = defineTool({
  name: 'hang',
  displayName: 'Hang',
  description: '',
  kind: 'read',
  timeoutMs: 20,
  parameterSchema: anything,
  execute: () => new Promise<never>(() => {}),
});

test('a tool that hangs is ended by its timeout although it ignores the signal', async () => {
  const { scheduler } = schedulerOf([hang]);
  const [outcome] = await scheduler.run([{ name: 'hang' }], never);
  expect(outcome?.error).toEqual({
    type: 'execution_timeout',
    message: 'hang did not finish within 0.02 s and was stopped.',
  });
});

test('a tool that hangs in its confirmation is ended too', async () => {
  const tool = defineTool({ ...spec('stuck'), timeoutMs: 20, confirm: () => new Promise<never>(() => {}) });
  const { scheduler } = schedulerOf([tool]);
  const [outcome] = await scheduler.run([{ name: 'stuck' }], never);
  expect(outcome?.error?.type).toBe('execution_timeout');
});

test('RA01 abort while a person is being asked cancels this call and those behind it', async () => {
  const notebook = new Notebook();
  const controller = new AbortController();
  const approver = {
    decide: () => {
      controller.abort();
      return new Promise<never>(() => {});
    },
  };
  const { scheduler } = schedulerOf([notebook, echo], { approver });
  const outcomes = await scheduler.run(
    [
      { name: 'note', args: { line: 'a' } },
      { name: 'echo', args: { text: 'x' } },
    ],
    controller.signal,
  );
  expect(outcomes.map(({ status }) => status)).toEqual(['cancelled', 'cancelled']);
  expect(notebook.lines).toEqual([]);
});

test('a tool that finished although it was asked to stop is reported as finished', async () => {
  const controller = new AbortController();
  const tool = defineTool({
    ...spec('stubborn'),
    execute: async () => {
      controller.abort();
      return { llmContent: 'written', returnDisplay: '' };
    },
  });
  const { scheduler } = schedulerOf([tool, echo]);
  const outcomes = await scheduler.run(
    [{ name: 'stubborn' }, { name: 'echo', args: { text: 'x' } }],
    controller.signal,
  );
  expect(outcomes.map(({ status }) => status)).toEqual(['success', 'cancelled']);
});

test('what a stopped tool hands over is kept, and the call is cancelled', async () => {
  const controller = new AbortController();
  const tool = defineTool({
    ...spec('listens'),
    execute: async () => {
      controller.abort();
      return {
        llmContent: 'half',
        returnDisplay: '',
        error: { type: 'execution_failed' as const, message: 'stopped' },
      };
    },
  });
  const { scheduler } = schedulerOf([tool]);
  const outcomes = await scheduler.run([{ name: 'listens' }], controller.signal);
  expect(outcomes.map(({ status, llmContent }) => ({ status, llmContent }))).toEqual([
    { status: 'cancelled', llmContent: 'half' },
  ]);
});

test('an aborted signal runs nothing', async () => {
  const { scheduler } = schedulerOf([echo], { approver: yes });
  const outcomes = await scheduler.run([{ name: 'echo', args: { text: 'x' } }], AbortSignal.abort());
  expect(outcomes.map(({ status }) => status)).toEqual(['cancelled']);
});

test('a log that throws changes nothing for the call', async () => {
  const warnings: unknown[] = [];
  const onWarning = (warning: Error) => warnings.push(warning.message);
  process.on('warning', onWarning);
  const { scheduler } = schedulerOf([echo], {
    audit: () => {
      throw new Error('disk full');
    },
  });
  const [outcome] = await scheduler.run([{ name: 'echo', args: { text: 'x' } }], never);
  await new Promise((resolve) => setImmediate(resolve));
  process.off('warning', onWarning);
  expect(outcome?.status).toBe('success');
  expect(warnings).toContain('disk full');
});

test('calls of two batches that change something never overlap, and each batch keeps its order', async () => {
  let running = 0;
  const lines: string[] = [];
  const tool = defineTool({
    ...spec('note'),
    kind: 'edit',
    parameterSchema: { type: 'object', properties: { line: { type: 'string' } }, required: ['line'] },
    execute: async ({ line }) => {
      expect(++running).toBe(1);
      await new Promise((resolve) => setTimeout(resolve, 5));
      running--;
      lines.push(line);
      return { llmContent: '', returnDisplay: '' };
    },
  });
  const { scheduler } = schedulerOf([tool], { approver: yes });
  const note = (line: string) => ({ name: 'note', args: { line } });
  const outcomes = await Promise.all([
    scheduler.run([note('a'), note('b')], never),
    scheduler.run([note('c'), note('d')], never),
  ]);
  expect(outcomes.flat().map(({ status }) => status)).toEqual(['success', 'success', 'success', 'success']);
  expect(lines.indexOf('a')).toBeLessThan(lines.indexOf('b'));
  expect(lines.indexOf('c')).toBeLessThan(lines.indexOf('d'));
});

test('batches that change nothing run side by side', async () => {
  const arrived: (() => void)[] = [];
  const tool = defineTool({
    ...spec('meet'),
    // Goes on when three of them have come.
    execute: async () => {
      await new Promise<void>((resolve) => {
        arrived.push(resolve);
        if (arrived.length === 3) for (const go of arrived) go();
      });
      return { llmContent: 'met', returnDisplay: '' };
    },
  });
  const { scheduler } = schedulerOf([tool]);
  const outcomes = await Promise.all([1, 2, 3].map(() => scheduler.run([{ name: 'meet' }], never)));
  expect(outcomes.flat().map(({ llmContent }) => llmContent)).toEqual(['met', 'met', 'met']);
});

test('a tool runs others through its call, also while a third call waits to change something', async () => {
  const notebook = new Notebook();
  const outer = defineTool({
    ...spec('outer'),
    kind: 'edit',
    execute: async (_params, signal, call) => {
      const outcomes = await call.run(
        [
          { name: 'note', args: { line: 'inner' } },
          { name: 'echo', args: { text: 'x' } },
        ],
        signal,
      );
      return { llmContent: outcomes.map(({ callId, status }) => `${callId} ${status}`).join(), returnDisplay: '' };
    },
  });
  const { scheduler } = schedulerOf([outer, notebook, echo], { approver: yes });
  const events: CallEvent[] = [];
  const other = scheduler.run([{ name: 'note', args: { line: 'other' } }], never);
  const run = scheduler.run([{ id: 'a', name: 'outer' }], never);
  for await (const event of run) events.push(event);
  expect((await run)[0]?.llmContent).toBe('a/1 success,a/2 success');
  expect(events.flatMap((event) => (event.type === 'call-end' ? event.outcome.callId : []))).toEqual([
    'a/1',
    'a/2',
    'a',
  ]);
  await other;
  expect(notebook.lines.toSorted()).toEqual(['inner', 'other']);
});

test('the outcome tells what the policy said and what a person answered', async () => {
  const deny: Approver = { decide: async () => ({ outcome: 'deny', message: 'not now' }) };
  const call = { name: 'note', args: { line: 'a' } };
  const facts = async (options: Parameters<typeof schedulerOf>[1]) => {
    const [outcome] = await schedulerOf([new Notebook()], options).scheduler.run([call], never);
    return [outcome?.verdict?.verdict, outcome?.decision?.outcome];
  };
  expect(await facts({ approver: yes })).toEqual(['ask', 'once']);
  expect(await facts({ approver: deny })).toEqual(['ask', 'deny']);
  expect(await facts({ policy: policyOf({ deny: ['note'] }) })).toEqual(['deny', undefined]);
  expect(await facts({ policy: policyOf({ allow: ['note'] }) })).toEqual(['allow', undefined]);
});

test('RA10 ten thousand calls on one signal leave no listener and warn about none', async () => {
  const warnings: Error[] = [];
  const onWarning = (warning: Error) => warnings.push(warning);
  process.on('warning', onWarning);
  const { signal } = new AbortController();
  const { scheduler } = schedulerOf([echo], { approver: nobody });
  for (let round = 0; round < 200; round++)
    await scheduler.run(
      Array.from({ length: 50 }, () => ({ name: 'echo', args: { text: 'x' } })),
      signal,
    );
  await new Promise((resolve) => setImmediate(resolve));
  process.off('warning', onWarning);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
  expect(warnings).toEqual([]);
});

function spec(name: string) {
  return {
    name,
    displayName: name,
    description: '',
    kind: 'read' as const,
    parameterSchema: anything,
    execute: async () => ({ llmContent: '', returnDisplay: '' }),
  };
}
