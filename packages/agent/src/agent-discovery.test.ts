import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { tempDirectory } from '../../../testing/temp-directory.js';
import { createAgentLathe } from './create-agent-lathe.js';
import { ScriptedModel } from './models/replay/scripted.js';
import { openAgent } from './open-agent.js';

const never = new AbortController().signal;

const declaration = JSON.stringify([
  { name: 'project_tool', description: 'Of the project.', parameters: { type: 'object' } },
]);

async function open(discovery: string) {
  const cwd = tempDirectory({ 'list.sh': `echo '${declaration}'`, 'call.sh': 'echo called', 'broken.sh': 'exit 3' });
  const lathe = await createAgentLathe({
    cwd,
    home: tempDirectory(),
    env: { ...process.env },
    isTrusted: true,
    latheHome: join(tempDirectory(), 'state'),
    flags: { 'tools.toolDiscoveryCommand': discovery, 'tools.toolCallCommand': 'sh call.sh' },
  });
  onTestFinished(() => lathe.close());
  const offered: string[][] = [];
  const model = new ScriptedModel(
    [1, 2].map(() => ({ tools }) => {
      offered.push(tools.map(({ name = '' }) => name));
      return { text: 'done' };
    }),
  );
  const agent = openAgent(lathe, { model });
  const notices: string[] = [];
  for (const prompt of ['first', 'second'])
    for await (const event of agent.prompt(prompt, never)) if (event.type === 'notice') notices.push(event.message);
  return { offered, notices };
}

test('an agent opened with the library offers the tools of the project from its first request on', async () => {
  const { offered, notices } = await open('sh list.sh');
  expect(offered.map((names) => names.includes('project_tool'))).toEqual([true, true]);
  expect(notices).toEqual([]);
});

test('a source that fails is named once', async () => {
  const { notices } = await open('sh broken.sh');
  expect(notices).toEqual([expect.stringContaining('discovery command: ')]);
});
