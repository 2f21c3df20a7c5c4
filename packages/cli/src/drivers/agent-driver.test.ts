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

test('a file outside that the person mentions is not asked about, nor when the model reads it later', async () => {
  const base = tempDirectory({ 'app/.env': 'TOKEN=abc', 'other/notes.txt': 'buy milk', 'home/.keep': '' });
  const [notes, env] = [join(base, 'other/notes.txt'), join(base, 'app/.env')];
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
  const read = (path: string) => ({ calls: [{ name: 'read_file', args: { absolute_path: path } }] });
  const turns = [read(notes), read(env), { text: 'ok' }];
  const session = await openSession(lathe, { model: new ScriptedModel(turns) });
  const driver = new AgentDriver(lathe, session);
  const notices: string[] = [];
  for (const prompt of [`compare @${notes} with @.env and @nosuch`, `what is in @${join(base, 'other')}`])
    for await (const event of driver.submit(prompt, never)) if (event.type === 'notice') notices.push(event.message);
  await session.close();
  expect(notices).toContain('No file or folder here matches @nosuch: nothing was added for it.');
  // The folder asks, as it may hold anything.
  expect(asked).toEqual([join(base, 'other')]);
  const heard = JSON.stringify(session.agent.history);
  expect(heard.split('buy milk')).toHaveLength(3);
  expect(heard.split('TOKEN=abc')).toHaveLength(3);
});
