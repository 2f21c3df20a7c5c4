import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Approver, LatheOptions } from '@lathe/core';
import { expect, onTestFinished, test } from 'vitest';
import { tempDirectory } from '../../../testing/temp-directory.js';
import { createAgentLathe } from './create-agent-lathe.js';
import { ScriptedModel } from './models/replay/scripted.js';
import { openAgent } from './open-agent.js';

const never = new AbortController().signal;

const settings = (hooks: object) => JSON.stringify({ hooks });
const hook = (command: string) => [{ hooks: [{ type: 'command', command }] }];

async function latheIn(cwd: string, home: string, options: Partial<LatheOptions> = {}) {
  const env = { PATH: process.env['PATH'], HOME: home };
  const lathe = await createAgentLathe({ cwd, home, latheHome: join(home, '.lathe'), env, ...options });
  onTestFinished(() => lathe.close());
  return lathe;
}

test("the person's own hooks apply to the calls of an agent", async () => {
  const home = tempDirectory({ '.lathe/settings.json': settings({ PreToolUse: hook('echo no >&2; exit 2') }) });
  const cwd = tempDirectory();
  const lathe = await latheIn(cwd, home, { flags: { 'tools.approvalMode': 'yolo' } });
  const model = new ScriptedModel([{ calls: [{ name: 'list_directory', args: { path: cwd } }] }, { text: 'ok' }]);
  const errors: unknown[] = [];
  for await (const event of openAgent(lathe, { model }).prompt('go', never))
    if (event.type === 'call-end') errors.push(event.outcome.error?.type);
  expect(errors).toEqual(['execution_denied']);
});

test('SessionStart runs before the first prompt, and Notification when a person has to decide', async () => {
  const cwd = tempDirectory();
  const home = tempDirectory({
    '.lathe/settings.json': settings({
      SessionStart: hook('echo "The build is red."'),
      Notification: hook(`cat > ${join(cwd, 'told')}`),
    }),
  });
  const waiting: Approver = {
    decide: async () => {
      while (!existsSync(join(cwd, 'told'))) await new Promise((resolve) => setTimeout(resolve, 10));
      return { outcome: 'deny' };
    },
  };
  const lathe = await latheIn(cwd, home, { approver: waiting });
  const calls = [{ name: 'run_shell_command', args: { command: 'touch x' } }];
  const model = new ScriptedModel([{ calls }, { text: 'ok' }]);
  for await (const event of openAgent(lathe, { model }).prompt('go', never)) expect(event.type).not.toBe('notice');
  expect(model.requests[0]?.history[0]?.parts.map(({ text }) => text)).toEqual(['The build is red.', 'go']);
  expect(existsSync(join(cwd, 'x'))).toBe(false);
});
