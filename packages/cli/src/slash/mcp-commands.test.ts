import { join } from 'node:path';
import { askedText, createAgentLathe, openAgent } from '@lathe/agent';
import { ScriptedModel } from '@lathe/agent/models';
import { expect, onTestFinished, test } from 'vitest';
import { badMcpServer } from '../../../../testing/bad-mcp-servers.js';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { AgentDriver } from '../drivers/agent-driver.js';
import { mentionedResources } from '../mentions/mentioned-resources.js';
import { promptCommands, readArguments, showServers } from './mcp-commands.js';
import type { SlashContext } from './slash-command.js';

const { signal } = new AbortController();

async function open(servers: Record<string, string>) {
  const home = tempDirectory();
  const lathe = await createAgentLathe({
    cwd: tempDirectory(),
    env: { PATH: process.env['PATH'] },
    home,
    latheHome: join(home, '.lathe'),
    flags: {
      mcpServers: Object.fromEntries(
        Object.entries(servers).map(([name, fault]) => [
          name,
          { command: process.execPath, args: [badMcpServer, fault] },
        ]),
      ),
    },
  });
  onTestFinished(() => lathe.close());
  return lathe;
}

test('the prompts of a server become commands when it connects', async () => {
  const lathe = await open({ notes: 'library' });
  const prompts = promptCommands(lathe, signal);
  expect(prompts.items).toEqual([]);
  await lathe.discover(signal);
  await expect.poll(() => prompts.items).toMatchObject([{ name: 'notes:review', summary: 'Reviews.' }]);
});

test('a mentioned resource is added; one that cannot be read is reported', async () => {
  const lathe = await open({ notes: 'library', broken: 'exit-at-start' });
  const text = 'Look at @notes:notes://today, mail me@notes:x and see @other:thing and @broken:a.';
  const { parts, problems } = await mentionedResources(text, lathe, signal);
  expect(parts).toEqual([
    '\n\nContent of the resource notes://today of the MCP server notes:\n',
    { text: 'text of notes://today' },
  ]);
  expect(problems).toEqual([expect.stringContaining('Could not read @broken:a')]);
});

test('a resource or a prompt of a server is a result of it: from then on calls that send ask', async () => {
  const from = { what: 'a result of the MCP server notes', from: 'the MCP server notes' };
  const mentioning = await open({ notes: 'library' });
  await mentionedResources('Look at @notes:notes://today', mentioning, signal);
  expect(mentioning.exposure?.sources).toEqual([from]);
  const lathe = await open({ notes: 'library' });
  const prompts = promptCommands(lathe, signal);
  await lathe.discover(signal);
  await expect.poll(() => prompts.items).toHaveLength(1);
  const agent = openAgent(lathe, { model: new ScriptedModel([{ text: 'done' }]) });
  // The command uses only these members.
  const context = { lathe, driver: new AgentDriver(lathe, agent), signal } as unknown as SlashContext;
  for (const command of prompts.items)
    if ('stream' in command) for await (const event of command.stream('a.ts', context)) void event;
  expect(lathe.exposure?.sources).toEqual([from]);
  // The words of the person come first, so those of the server do not count as theirs.
  expect(agent.history.map(askedText)).toEqual(['/notes:review a.ts', '']);
});

test('/mcp shows the state of each server, its tools, and why it has none', async () => {
  const lathe = await open({ notes: 'library', broken: 'exit-at-start' });
  await lathe.discover(signal);
  const said: string[] = [];
  showServers({ lathe, print: (text) => said.push(text) });
  expect(said.join('\n')).toMatch(/notes: library 1, protocol 2025-11-25, \d+ ms\n {4}1 tools: notes__echo/);
  expect(said.join('\n')).toMatch(/broken: failed: .*code 3/);
});

test.each([
  ['', {}],
  ['a=1 b="2 3"', { a: '1', b: '2 3' }],
  ['one two three', { a: 'one', b: 'two three' }],
  ['c=d', { a: 'c=d' }],
])('%j gives the parameters %j', (text, expected) => {
  const parameters = ['a', 'b'].map((name) => ({ name, isRequired: false }));
  expect(readArguments(text, parameters)).toEqual(expected);
});
