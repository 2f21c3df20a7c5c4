import type { Hook } from '@lathe/core/host';
import { Hooks } from '@lathe/core/host';
import { childEnvironment } from '@lathe/core/tools';
import { expect, test } from 'vitest';
import { agentKit, collect, endOf } from '../../../../testing/agent-kit.js';
import { tempDirectory } from '../../../../testing/temp-directory.js';

const never = new AbortController().signal;

function hooksOf(hooks: Pick<Hook, 'event' | 'command'>[]): Hooks {
  const cwd = tempDirectory();
  const session = { id: 'session-1', cwd, transcriptPath: '', permissionMode: () => 'default' };
  const all = hooks.map((hook) => ({ ...hook, timeoutMs: 10_000 }));
  return new Hooks(all, { cwd, env: childEnvironment(process.env) }, session);
}

test('hooks around a prompt: added context, rejection, and continuing at the end', async () => {
  const hooks = hooksOf([
    { event: 'UserPromptSubmit', command: 'grep -q forbidden && exit 2 || echo "Today is Tuesday"' },
    { event: 'Stop', command: 'grep -q "stop_hook_active\\":true" || { echo "tests are missing" >&2; exit 2; }' },
  ]);
  const { agent, model } = agentKit([{ text: 'done' }, { text: 'really done' }], { hooks });
  expect((await endOf(agent, 'something forbidden')).reason).toBe('blocked');
  const events = await collect(agent.prompt('go', never));
  expect(events.at(-1)).toMatchObject({ end: { reason: 'done', text: 'really done' } });
  expect(model.requests[0]?.history[0]?.parts).toEqual([{ text: 'go' }, { text: 'Today is Tuesday' }]);
  expect(model.requests[1]?.history.at(-1)?.parts[0]?.text).toContain('tests are missing');
});
