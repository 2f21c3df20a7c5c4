import { join } from 'node:path';
import { createAgentLathe, openSession } from '@lathe/agent';
import { ScriptedModel } from '@lathe/agent/models';
import { expect, onTestFinished, test } from 'vitest';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { AgentDriver } from './agent-driver.js';

const never = new AbortController().signal;

test('a file with keys that the person mentions is read without a question, a place outside asks', async () => {
  const base = tempDirectory({ 'app/.env': 'TOKEN=abc', 'other/.env': 'TOKEN=xyz', 'home/.keep': '' });
  const asked: string[] = [];
  const lathe = await createAgentLathe({
    cwd: join(base, 'app'),
    home: join(base, 'home'),
    env: { PATH: process.env['PATH'] },
    approver: {
      decide: async ({ confirmation }) => {
        asked.push(confirmation.type === 'info' ? confirmation.prompt : confirmation.type);
        return { outcome: 'deny' };
      },
    },
  });
  onTestFinished(() => lathe.close());
  const session = await openSession(lathe, { model: new ScriptedModel([{ text: 'ok' }, { text: 'ok' }]) });
  const driver = new AgentDriver(lathe, session);
  for (const path of ['.env', join(base, 'other/.env')])
    for await (const event of driver.submit(`look at @${path}`, never)) void event;
  const heard = JSON.stringify(session.agent.history);
  await session.close();
  expect(heard).toContain('TOKEN=abc');
  expect(heard).not.toContain('TOKEN=xyz');
  expect(asked).toEqual([join(base, 'other/.env')]);
});
