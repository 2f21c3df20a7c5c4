import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { canSeeProcesses, isRunning } from '../../../../testing/running.js';
import { policyOf, schedulerOf } from '../../../../testing/scheduler-kit.js';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import type { Approver } from '../contract/call.js';
import { childEnvironment } from '../process/run/environment.js';
import { denyAll } from '../scheduler/approve.js';
import { defineTool } from '../tools/tools.js';
import { type Hook, Hooks } from './hooks.js';

const never = new AbortController().signal;

function hooksOf(hooks: Partial<Hook>[], cwd = tempDirectory()): Hooks {
  const env = childEnvironment({ ...process.env, API_KEY: 'secret' }, { set: { LATHE_PROJECT_DIR: cwd } });
  const session = { id: 'session-1', cwd, transcriptPath: '', permissionMode: () => 'default' };
  const all = hooks.map((hook) => ({ event: 'PreToolUse' as const, command: 'true', timeoutMs: 10_000, ...hook }));
  return new Hooks(all, { cwd, env }, session);
}

/** Keeps what it was called with. */
function recorder() {
  const seen: unknown[] = [];
  const tool = defineTool({
    name: 'run_shell_command',
    displayName: 'Shell',
    description: 'Records.',
    kind: 'other',
    parameterSchema: {
      type: 'object',
      properties: { command: { type: 'string' } },
      required: ['command'],
      additionalProperties: false,
    } as const,
    execute: async (params) => {
      seen.push(params.command);
      return { llmContent: 'ran', returnDisplay: 'ran' };
    },
  });
  return { tool, seen };
}

async function runWith(hooks: Hooks, options: { approver?: Approver; allow?: string[]; mode?: 'yolo' } = {}) {
  const { tool, seen } = recorder();
  const { approver, allow = ['run_shell_command'], mode } = options;
  const { scheduler } = schedulerOf([tool], {
    hooks,
    policy: policyOf({ allow, ...(mode && { mode }) }),
    ...(approver && { approver }),
  });
  const run = scheduler.run([{ id: '1', name: tool.name, args: { command: 'ls' } }], never);
  const told: string[] = [];
  for await (const event of run) if (event.type === 'notice') told.push(event.message);
  const [outcome] = await run;
  return { outcome, seen, told };
}

const answers = (answer: object) => `echo '${JSON.stringify(answer)}'`;

test('a hook gets the call on stdin, and a small environment', async () => {
  const cwd = tempDirectory();
  await runWith(hooksOf([{ command: 'cat > input; env > env; pwd > pwd' }], cwd));
  expect(JSON.parse(readFileSync(join(cwd, 'input'), 'utf8'))).toEqual({
    session_id: 'session-1',
    transcript_path: '',
    cwd,
    permission_mode: 'default',
    hook_event_name: 'PreToolUse',
    tool_name: 'run_shell_command',
    tool_input: { command: 'ls' },
    tool_use_id: '1',
  });
  expect(readFileSync(join(cwd, 'env'), 'utf8')).not.toContain('secret');
  expect(readFileSync(join(cwd, 'pwd'), 'utf8').trim()).toBe(cwd);
});

test.each([
  ['exit code 2', 'echo "not that" >&2; exit 2'],
  ['decision block', answers({ decision: 'block', reason: 'not that' })],
  [
    'permissionDecision deny',
    answers({ hookSpecificOutput: { permissionDecision: 'deny', permissionDecisionReason: 'not that' } }),
  ],
  ['continue false', answers({ continue: false, stopReason: 'not that' })],
])('%s blocks the call and gives the model the reason', async (_title, command) => {
  const { outcome, seen } = await runWith(hooksOf([{ command }]), { mode: 'yolo' });
  expect(seen).toEqual([]);
  expect(outcome?.error).toEqual({ type: 'execution_denied', message: expect.stringContaining('not that') });
});

test.each([
  ['allow', answers({ hookSpecificOutput: { permissionDecision: 'allow' } })],
  ['approve', answers({ decision: 'approve' })],
])('%s does not loosen anything', async (_title, command) => {
  const cautious = { decide: async () => ({ outcome: 'deny' as const }) };
  const { tool, seen } = recorder();
  const { scheduler } = schedulerOf([tool], {
    hooks: hooksOf([{ command }]),
    policy: policyOf({ deny: ['run_shell_command'] }),
  });
  const [denied] = await scheduler.run([{ name: tool.name, args: { command: 'ls' } }], never);
  expect(denied?.error?.type).toBe('execution_denied');
  const asked = await runWith(hooksOf([{ command }, { command: answers({ permissionDecision: 'ask' }) }]), {
    approver: cautious,
  });
  expect(asked.outcome?.status).toBe('cancelled');
  expect([seen, asked.seen]).toEqual([[], []]);
});

test('a hook can make a call ask even in yolo mode', async () => {
  const questions: string[] = [];
  const approver: Approver = {
    decide: async ({ reason }) => {
      questions.push(reason);
      return { outcome: 'once' };
    },
  };
  const command = answers({ hookSpecificOutput: { permissionDecision: 'ask', permissionDecisionReason: 'looks odd' } });
  const { seen } = await runWith(hooksOf([{ command }]), { approver, mode: 'yolo' });
  expect([questions, seen]).toEqual([['looks odd'], ['ls']]);
});

test('a question from a hook does not mention rules', async () => {
  const command = answers({ permissionDecision: 'ask', permissionDecisionReason: 'looks odd' });
  const { outcome } = await runWith(hooksOf([{ command }]), { approver: denyAll, allow: ['edit'] });
  expect(outcome?.error?.message).toMatch(/\(looks odd\) and nobody is there to give it\.$/);
});

test('changed parameters are validated and checked by the policy again', async () => {
  const change = (input: object) => hooksOf([{ command: answers({ hookSpecificOutput: { updatedInput: input } }) }]);
  const good = await runWith(change({ command: 'ls -la' }));
  expect(good.seen).toEqual(['ls -la']);
  const invalid = await runWith(change({ comand: 'ls' }));
  expect([invalid.seen, invalid.outcome?.error?.type]).toEqual([[], 'invalid_tool_params']);
});

test.each([
  ['hangs', 'sleep 60', 'did not finish'],
  ['is missing', './missing.sh', 'No such file|not found'],
  ['is not executable', './plain.sh', 'ermission denied'],
  ['is ended by a signal', 'kill -9 $$', 'SIGKILL'],
])('a guard that %s leaves the decision to the user', async (_title, command, notice) => {
  const approver: Approver = { decide: async () => ({ outcome: 'deny' }) };
  const timeoutMs = command.startsWith('sleep') ? 100 : 10_000;
  const hooks = hooksOf([{ command, timeoutMs }], tempDirectory({ 'plain.sh': 'exit 0' }));
  const { seen, outcome, told } = await runWith(hooks, { approver, mode: 'yolo' });
  expect([seen, outcome?.status, told]).toEqual([[], 'cancelled', [expect.stringMatching(notice)]]);
});

test('another hook that cannot run is only reported', async () => {
  const hooks = hooksOf([{ event: 'PostToolUse', command: './missing.sh' }]);
  const { seen, told } = await runWith(hooks);
  expect([seen, told]).toEqual([['ls'], [expect.stringContaining('missing.sh')]]);
});

test('any other exit code is only reported', async () => {
  const hooks = hooksOf([{ command: 'echo broken >&2; exit 1' }]);
  const { seen, told } = await runWith(hooks);
  expect([seen, told]).toEqual([['ls'], [expect.stringContaining('broken')]]);
});

test.each([
  ['Bash', true],
  ['Edit|Bash', true],
  ['run_.*', true],
  ['*', true],
  ['', true],
  ['(', true],
  ['Edit', false],
  ['shell_command', false],
])('the matcher %j: %s', async (matcher, isMatch) => {
  const { seen } = await runWith(hooksOf([{ command: 'exit 2', matcher }]));
  expect(seen).toEqual(isMatch ? [] : ['ls']);
});

test('PostToolUse adds to the result and cannot undo it', async () => {
  const command = answers({
    decision: 'block',
    reason: 'run the formatter',
    hookSpecificOutput: { additionalContext: 'and the tests' },
  });
  const { outcome, seen } = await runWith(hooksOf([{ event: 'PostToolUse', command }]));
  expect(seen).toEqual(['ls']);
  expect(outcome?.response.response?.['output']).toBe('ran\n\n[A hook remarks] run the formatter\nand the tests');
});

test('start-up files of the shell are not read', async () => {
  const cwd = tempDirectory({ '.bashrc': 'touch "$HOME/read"', '.profile': 'touch "$HOME/read"' });
  const session = { id: 'x', cwd, transcriptPath: '', permissionMode: () => 'default' };
  const hook = { event: 'PreToolUse', command: 'touch ran', timeoutMs: 10_000 } as const;
  const hooks = new Hooks([hook], { cwd, env: { PATH: '/usr/bin:/bin', HOME: cwd } }, session);
  await hooks.before({ callId: '1', tool: 'x', args: {} }, never);
  expect([existsSync(join(cwd, 'ran')), existsSync(join(cwd, 'read'))]).toEqual([true, false]);
});

test.skipIf(!canSeeProcesses)('endless output is bounded, and nothing a hook started survives it', async () => {
  const marker = `60.${process.pid}77`;
  const { outcome } = await runWith(
    hooksOf([{ command: `setsid sleep ${marker} & head -c 20000000 /dev/zero; exit 2` }]),
  );
  expect(outcome?.error?.type).toBe('execution_denied');
  expect(isRunning(marker)).toBe(false);
});

test('an abort ends a hook at once', async () => {
  const controller = new AbortController();
  const before = hooksOf([{ command: 'sleep 60' }]).before({ callId: '1', tool: 'x', args: {} }, controller.signal);
  controller.abort(new Error('stop'));
  await expect(before).rejects.toThrow('stop');
});
