import { createAgentLathe, openAgent } from '@lathe/agent';
import { ScriptedModel } from '@lathe/agent/models';
import { expect, onTestFinished, test } from 'vitest';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { AgentDriver } from '../drivers/agent-driver.js';
import { switchModel } from './model-command.js';
import type { SlashContext } from './slash-command.js';

const doubt = 'This name is not among those found here. The next message shows whether it works.';

test('/model takes a name, a level or both, and doubts only a new name that nobody offers', async () => {
  const openai = [{ id: 'gpt-5.4', name: 'Gateway', baseUrl: 'http://127.0.0.1:9/v1' }];
  const settings = { modelProviders: { openai } };
  const home = tempDirectory({ '.qwen/settings.json': JSON.stringify(settings) });
  const env = { PATH: process.env['PATH'], ANTHROPIC_API_KEY: 'k', OLLAMA_HOST: '127.0.0.1:1' };
  const lathe = await createAgentLathe({ cwd: tempDirectory(), home, env });
  onTestFinished(() => lathe.close());
  const driver = new AgentDriver(lathe, openAgent(lathe, { model: new ScriptedModel([]) }));
  const printed: string[] = [];
  const offered: string[] = [];
  const context = {
    lathe,
    driver,
    signal: new AbortController().signal,
    print: (text: string) => void printed.push(text),
    choose: async ({ choices }: { choices: readonly { label: string; detail?: string }[] }) => {
      offered.push(...choices.slice(0, 2).map(({ label, detail }) => `${label}: ${detail}`));
      return undefined;
    },
    // The command uses only these members.
  } as unknown as SlashContext;
  for (const typed of ['', 'high', 'gpt-5.4', 'claude-sonnet-4-6 low', 'nonsense max'])
    await switchModel(typed, context);
  expect(offered).toEqual([
    'gpt-5.4: Gateway, in your settings',
    'anthropic/claude-sonnet-4-6: ANTHROPIC_API_KEY is set',
  ]);
  expect(printed.map((text) => text.split('\n').map((line) => line.trim()))).toEqual([
    ['Model: scripted', 'Effort: high'],
    ['Model: gpt-5.4', 'Effort: high'],
    ['Model: claude-sonnet-4-6', 'Effort: low'],
    ['Model: nonsense', 'Effort: max', doubt],
  ]);
});
