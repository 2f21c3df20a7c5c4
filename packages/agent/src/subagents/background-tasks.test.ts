import { expect, onTestFinished, test } from 'vitest';
import { collect, endOf } from '../../../../testing/agent-kit.js';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { createAgentLathe } from '../create-agent-lathe.js';
import type { ModelRequest } from '../models/model.js';
import { ScriptedModel, type ScriptedTurn } from '../models/replay/scripted.js';
import { type OpenAgentOptions, openAgent } from '../open-agent.js';

const never = new AbortController().signal;
type Role = (request: ModelRequest, turn: number) => ScriptedTurn | Promise<ScriptedTurn>;

/** One model plays every agent: it tells them apart by the first words of their conversation. */
function cast(roles: Record<string, Role>) {
  const step = (request: ModelRequest) => {
    const opening = request.history[0]?.parts.map(({ text = '' }) => text).join('') ?? '';
    const role = Object.keys(roles).find((name) => opening.includes(name));
    const turn = request.history.filter(({ role: who }) => who === 'model').length;
    return roles[role ?? '']?.(request, turn) ?? { text: `nobody plays ${opening}` };
  };
  return new ScriptedModel(Array.from({ length: 2000 }, () => step));
}

const start = (prompt: string) => ({
  name: 'task',
  args: { description: 'some work', prompt, subagent_type: 'general-purpose', background: true },
});
const control = (args: Record<string, unknown>) => ({ name: 'task_control', args });
const lastText = ({ history }: ModelRequest) => JSON.stringify(history.at(-1)?.parts);

async function open(model: ScriptedModel, agent: Partial<OpenAgentOptions> = {}, flags = {}) {
  const root = tempDirectory({ 'a.txt': 'alpha\n' });
  const env = { PATH: process.env['PATH'] };
  const lathe = await createAgentLathe({ cwd: root, env, home: tempDirectory(), flags });
  onTestFinished(() => lathe.close());
  return { root, lathe, agent: openAgent(lathe, { model, ...agent }) };
}

/** Something to wait for. */
function gate() {
  let release = () => {};
  const opened = new Promise<void>((resolve) => (release = resolve));
  return { open: release, opened };
}

test('a background task returns its id at once, and its report arrives as a message in the same prompt', async () => {
  const slow = gate();
  const seen: string[] = [];
  const model = cast({
    'lead the work': (request, turn) => {
      seen.push(lastText(request));
      if (turn === 0) return { calls: [start('dig deep')] };
      if (turn === 1) {
        slow.open();
        return { text: 'I continue meanwhile.' };
      }
      return { text: 'all is in' };
    },
    'dig deep': () => slow.opened.then(() => ({ text: 'found gold' })),
  });
  const { agent, lathe } = await open(model);
  const end = await endOf(agent, 'lead the work');
  expect(end).toMatchObject({ reason: 'done', text: 'all is in', turns: 3 });
  expect(seen[1]).toContain('Started t1 in the background');
  expect(seen[2]).toContain('Background task t1 (general-purpose: some work) is done');
  expect(seen[2]).toContain('found gold');
  expect(lathe.subagents.background.list()).toMatchObject([{ id: 't1', state: 'done' }]);
  expect(agent.spending.usage.inputTokens).toBeGreaterThan(0);
});

test('with somebody who starts turns, a prompt ends at once and hear works on the report', async () => {
  const slow = gate();
  const arrived = gate();
  const model = cast({
    'lead the work': (request, turn) =>
      turn === 0 ? { calls: [start('dig deep')] } : { text: turn === 1 ? 'started' : lastText(request) },
    'dig deep': () => slow.opened.then(() => ({ text: 'found gold' })),
  });
  const { agent } = await open(model, { onMessage: arrived.open });
  expect(await endOf(agent, 'lead the work')).toMatchObject({ text: 'started' });
  slow.open();
  await arrived.opened;
  const events = await collect(agent.hear(never));
  expect(events.at(-1)).toMatchObject({ type: 'prompt-end', end: { reason: 'done' } });
  expect(JSON.stringify(events.at(-1))).toContain('found gold');
});

test('tasks can be listed, sent a message and stopped; one that has ended takes no more messages', async () => {
  const steered = gate();
  let all = '';
  const model = cast({
    'lead the work': (request, turn) => {
      all = JSON.stringify(request.history);
      const calls = [
        [start('listen to me'), start('never end')],
        [control({ action: 'list' })],
        [control({ action: 'send', id: 't1', message: 'change of plan' })],
        [control({ action: 'stop', id: 't2' })],
        [control({ action: 'send', id: 't2', message: 'hello?' }), control({ action: 'stop', id: 't9' })],
      ][turn];
      if (turn === 3) steered.open();
      return calls ? { calls } : { text: 'over' };
    },
    'listen to me': (request, turn) =>
      turn === 0
        ? steered.opened.then(() => ({ calls: [{ name: 'list_directory', args: { path: '/' } }] }))
        : { text: lastText(request) },
    'never end': () => ({ delayMs: 600_000 }),
  });
  const { agent, lathe } = await open(model);
  await endOf(agent, 'lead the work');
  expect(all).toMatch(/t1 (running|waiting) \(general-purpose: some work\)/);
  expect(all).toContain('t1 gets the message');
  expect(all).toContain('change of plan');
  expect(all).toContain('Stopped t2');
  expect(all).toContain('t2 has ended and takes no more messages');
  expect(all).toContain('There is no task t9, only t1, t2');
  expect(lathe.subagents.background.list().map(({ state }) => state)).toEqual(['done', 'stopped']);
});

test('a question of a background task says who asks', async () => {
  const asked: string[] = [];
  const model = cast({
    'lead the work': (_, turn) => (turn === 0 ? { calls: [start('write it')] } : { text: 'ok' }),
    'write it': (_, turn) =>
      turn === 0 ? { calls: [{ name: 'run_shell_command', args: { command: 'touch made' } }] } : { text: 'asked' },
  });
  const approver: OpenAgentOptions['approver'] = {
    decide: async ({ confirmation }) => {
      asked.push(...(confirmation.warnings ?? []));
      return { outcome: 'deny', message: 'no' };
    },
  };
  const { agent } = await open(model, { approver }, { 'tools.sandbox.autoApprove': false });
  await endOf(agent, 'lead the work');
  expect(asked[0]).toBe('The subagent general-purpose (t1) asks.');
});

test('what background tasks spend counts for the session, whose limit stops them', async () => {
  const model = cast({
    'lead the work': (_, turn) => (turn === 0 ? { calls: [start('talk on'), start('talk on')] } : { text: 'ok' }),
    'talk on': (_, turn) => ({ text: `${turn}`, calls: [{ name: 'list_directory', args: { path: `/${turn}` } }] }),
  });
  const { agent, lathe } = await open(model, { budgets: { tokens: 200_000 } });
  const end = await endOf(agent, 'lead the work');
  expect(end.reason).toBe('max-tokens');
  const states = () => lathe.subagents.background.list().map(({ state }) => state);
  await expect.poll(states).toEqual(['failed', 'failed']);
  const { inputTokens, outputTokens } = agent.spending.usage;
  expect(inputTokens + outputTokens).toBeLessThan(260_000);
});

test('closing ends tasks that would never end, and an abort ends the waiting for them', async () => {
  const model = cast({
    'lead the work': (_, turn) => (turn === 0 ? { calls: [start('never end')] } : { text: 'waiting' }),
    'never end': () => ({ delayMs: 600_000 }),
  });
  const { agent, lathe } = await open(model);
  const controller = new AbortController();
  const end = endOf(agent, 'lead the work', controller.signal);
  await expect.poll(() => lathe.subagents.background.list()[0]?.state).toBe('running');
  controller.abort();
  expect(await end).toMatchObject({ reason: 'aborted' });
  await lathe.close();
  expect(lathe.subagents.background.list()).toMatchObject([{ state: 'stopped' }]);
});

test('a long report is kept in a file that the agent can read', async () => {
  const lines = Array.from({ length: 20_000 }, (_, n) => `finding ${n}`).join('\n');
  let report = '';
  const model = cast({
    'lead the work': (request, turn) => {
      if (turn === 0) return { calls: [start('dig deep')] };
      if (turn === 1) return { text: 'I wait.' };
      report =
        request.history
          .at(-1)
          ?.parts.map(({ text = '' }) => text)
          .join('') ?? '';
      return { text: 'read' };
    },
    'dig deep': () => ({ text: lines }),
  });
  const { agent, lathe } = await open(model);
  await endOf(agent, 'lead the work');
  expect(report.length).toBeLessThan(50_000);
  expect(report).not.toContain('finding 10000\n');
  const [, file = ''] = /the whole output is in (\S+)/.exec(report) ?? [];
  const [read] = await lathe.run([{ name: 'grep_search', args: { pattern: 'finding 10000$', path: file } }], never);
  expect(read?.llmContent).toContain('finding 10000');
});
