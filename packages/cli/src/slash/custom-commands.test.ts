import { join } from 'node:path';
import { type AgentEvent, createAgentLathe } from '@lathe/agent';
import type { Approver, PartUnion } from '@lathe/core';
import { expect, onTestFinished, test } from 'vitest';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import type { Driver } from '../drivers/driver.js';
import { customCommands, skillCommands } from './custom-commands.js';
import { findCommand, type SlashContext } from './slash-command.js';

const { signal } = new AbortController();

/** Commands of a trusted project, an approver that always denies, and a driver that records its input. */
async function open(files: Record<string, string>, hasModel = true) {
  const asked: string[] = [];
  const approver: Approver = {
    async decide({ confirmation }) {
      asked.push(confirmation.type === 'exec' ? confirmation.command : confirmation.type);
      return { outcome: 'deny' };
    },
  };
  const home = tempDirectory({ '.qwen/commands/own.md': 'My own.' });
  const cwd = tempDirectory(
    Object.fromEntries(
      Object.entries(files).map(([name, text]) => [name.includes('/') ? name : `.lathe/commands/${name}.md`, text]),
    ),
  );
  const env = { PATH: process.env['PATH'] };
  const lathe = await createAgentLathe({ cwd, env, home, latheHome: join(home, '.lathe'), isTrusted: true, approver });
  onTestFinished(() => lathe.close());
  const sent: PartUnion[][] = [];
  async function* prompt(content: PartUnion[]): AsyncGenerator<AgentEvent> {
    sent.push(content);
    yield { type: 'message-add', message: { role: 'model', parts: [{ text: 'Heard.' }] } };
  }
  const tokens = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, reasoningTokens: 0 };
  const usage = { usage: tokens, turns: 0, milliseconds: 0 };
  const talk = { contextFiles: [], messages: 0, contextTokens: 0, contextWindow: 1, history: [], usage };
  const conversation = { ...talk, resume: async () => [], effort: '', useModel: async () => [] };
  const driver: Driver = {
    name: 'test driver',
    placeholder: '',
    submit: prompt.bind(undefined, []),
    compact: prompt.bind(undefined, []),
    prompt,
    clear: () => undefined,
    ...(hasModel && { conversation }),
  };
  await lathe.discover(signal);
  const custom = await customCommands(lathe);
  const commands = [...custom.commands, ...skillCommands(lathe)];
  const { problems } = custom;
  const run = async (name: string, argument = '') => {
    const command = findCommand(commands, name);
    if (!command || !('stream' in command)) throw new Error(`There is no /${name}`);
    // Commands that stream use only these members.
    const context = { lathe, driver, signal } as SlashContext;
    const notices: string[] = [];
    for await (const event of command.stream(argument, context))
      if (event.type === 'notice') notices.push(event.message);
    return { notices, asked, sent: sent.map((content) => textOf(content)) };
  };
  return { commands, problems, run, cwd };
}

function textOf(content: readonly PartUnion[]): string {
  return content.map((part) => (typeof part === 'string' ? part : (part.text ?? ''))).join('');
}

test('a command sends the prompt of its file with the arguments inserted', async () => {
  const { commands, run } = await open({ explain: '---\ndescription: explains\n---\nExplain {{args}} to me.' });
  expect(commands.map(({ name, summary, origin }) => [name, summary, origin])).toEqual([
    ['own', 'My own.', 'yours'],
    ['explain', 'explains', 'this project'],
  ]);
  expect(await run('explain', 'a $& !{id}')).toEqual({ notices: [], asked: [], sent: ['Explain a $& !{id} to me.'] });
});

test.each(['help', 'quit', 'q', 'exit', 'resume'])('a file cannot define /%s', async (name) => {
  const { commands, problems } = await open({ [name]: 'Mine.' });
  expect(findCommand(commands, name)).toBeUndefined();
  expect(problems).toEqual([expect.stringContaining(`there is a command /${name} already`)]);
});

test('included output and files reach the model and are not expanded again', async () => {
  const { run } = await open({
    look: 'Say: !{echo {{args}}} File: @{notes/a.txt}',
    'notes/a.txt': 'note !{id} {{args}}',
  });
  const { sent, notices } = await run('look', "it's !{id}");
  expect(notices).toEqual([]);
  expect(sent).toEqual([expect.stringMatching(/^Say: [^]*it's !\{id\}[^]* File: [^]*note !\{id\} \{\{args\}\}/)]);
});

test('SC11: a shell command in a file needs approval, and after a no nothing reaches the model', async () => {
  const { run } = await open({ deploy: 'Look: !{touch made}' });
  const { asked, sent, notices } = await run('deploy');
  expect({ asked, sent }).toEqual({ asked: ['touch made'], sent: [] });
  expect(notices).toEqual([expect.stringContaining('nothing was sent')]);
});

test.each(['/etc/passwd', '../../../../../../etc/passwd', '.ssh/id_rsa', '{{args}}'])(
  'SC11: @{%s} in a file needs approval like any outside path or secret, and after a no nothing reaches the model',
  async (path) => {
    const { run } = await open({ steal: `Look: @{${path}}`, '.ssh/id_rsa': 'secret' });
    const { asked, sent } = await run('steal', '/etc/hosts');
    expect(asked).toHaveLength(1);
    expect(sent).toEqual([]);
  },
);

test('the model learns about a missing file', async () => {
  const { run } = await open({ look: 'Look: @{missing.txt}' });
  expect((await run('look')).sent).toEqual([expect.stringContaining('missing.txt: no such file')]);
});

test('without a model nothing runs', async () => {
  const { run } = await open({ look: '!{touch made}' }, false);
  expect(await run('look')).toEqual({ notices: [], asked: [], sent: [''] });
});

test('a skill is a command of its name, and cannot replace a built-in one', async () => {
  const skill = '---\ndescription: Helps.\ndisable-model-invocation: true\n---\nGreet $ARGUMENTS.';
  const { commands, run } = await open({
    '.claude/skills/greet/SKILL.md': skill,
    '.claude/skills/help/SKILL.md': skill,
  });
  expect(commands.map(({ name }) => name)).toEqual(['own', 'greet']);
  const { sent } = await run('greet', 'Ada');
  expect(sent[0]).toMatch(/^Use the skill greet: Ada\n[^]*\nGreet Ada\.$/);
});
