import { defineTool } from '@lathe/core';
import { expect, test } from 'vitest';
import { agentKit } from '../../../../testing/agent-kit.js';

const picture = defineTool({
  name: 'picture',
  description: 'Takes a picture.',
  kind: 'read',
  parameterSchema: { type: 'object' },
  execute: async () => ({
    llmContent: ['here', { inlineData: { mimeType: 'video/mp4', data: 'AAAA' } }],
    returnDisplay: '',
  }),
});

test('a person is notified once that a kind of media is left out, and which setting adds it', async () => {
  const call = { calls: [{ name: 'picture', args: {} }] };
  const { agent } = agentKit([call, call, { text: 'done' }], { extraTools: [picture] });
  const notices: string[] = [];
  for await (const event of agent.prompt('look', new AbortController().signal))
    if (event.type === 'notice') notices.push(event.message);
  expect(notices).toEqual([
    `${agent.model.id} is not known to accept video input, so it was left out. If it does, add it to the setting model.inputs: ["video"].`,
  ]);
});
